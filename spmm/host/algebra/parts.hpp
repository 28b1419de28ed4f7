#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "spmm/first_error.hpp"
#include "spmm/host/runtime/threads.hpp"
#include "spmm/types.hpp"

namespace block_eigs::host {

/// Calls work(begin, end, part) for consecutive parts of 0 .. count - 1, one a thread, part < threads(). The first
/// exception is thrown again here.
template <class Work>
void for_numbered_parts(LocalIndex count, const Work& work) {
  const int parts = threads_for(count);
  FirstError failure;
#pragma omp parallel for schedule(static, 1) num_threads(parts)
  for (int part = 0; part < parts; ++part) {
    const Range own = part_of(count, part, parts);
    failure.run([&] { work(static_cast<LocalIndex>(own.begin), static_cast<LocalIndex>(own.end), part); });
  }
  failure.rethrow();
}

/// The same for work(begin, end).
template <class Work>
void for_parts(LocalIndex count, const Work& work) {
  for_numbered_parts(count, [&](LocalIndex begin, LocalIndex end, int) { work(begin, end); });
}

/// sums[i] = size(0) + ... + size(i - 1), sums[count] the sum of all, which is returned. `size` is asked twice.
template <class Integer, class Size>
Integer running_sums(LocalIndex count, const Size& size, Integer* sums) {
  std::vector<Integer> before(static_cast<std::size_t>(threads()) + 1, 0);
  for_numbered_parts(count, [&](LocalIndex begin, LocalIndex end, int part) {
    Integer sum = 0;
    for (LocalIndex i = begin; i < end; ++i) sum += size(i);
    before[static_cast<std::size_t>(part) + 1] = sum;
  });
  for (std::size_t part = 1; part < before.size(); ++part) before[part] += before[part - 1];
  for_numbered_parts(count, [&](LocalIndex begin, LocalIndex end, int part) {
    Integer sum = before[static_cast<std::size_t>(part)];
    for (LocalIndex i = begin; i < end; ++i) {
      sums[i] = sum;
      sum += size(i);
    }
  });
  sums[count] = before.back();
  return before.back();
}

/// Calls work(part) for every part, at most one a thread.
template <class Work>
void for_each_part(int parts, const Work& work) {
  FirstError failure;
#pragma omp parallel for schedule(static, 1) num_threads(team_for(parts))
  for (int part = 0; part < parts; ++part) failure.run([&] { work(part); });
  failure.rethrow();
}

/// Puts entries in the order of their keys, 0 .. keys - 1, those of one key in the order of the items that they
/// come from: each thread counts those of consecutive items first. `each(item, visit)` calls visit(k, key) for
/// every entry k of an item; `place(at, item, k)` gets entry k and where it goes. offsets[key] is where those of a
/// key begin. Counters take no more than the entries do.
template <class Each, class Place>
void sort_by_key(LocalIndex items, LocalIndex keys, Offset entries, Offset* offsets, const Each& each,
                 const Place& place) {
  const Offset most = entries / (keys > 0 ? keys : 1);
  const int parts = most < 1 ? 1 : static_cast<int>(most < threads() ? most : threads());
  const auto width = static_cast<std::size_t>(keys);
  const auto counts = std::make_unique_for_overwrite<LocalIndex[]>(static_cast<std::size_t>(parts) * width);
  const auto of_part = [&](int part) { return counts.get() + static_cast<std::size_t>(part) * width; };
  const auto items_of = [&](int part, const auto& visit) {
    const Range own = part_of(items, part, parts);
    for (auto i = static_cast<LocalIndex>(own.begin); i < own.end; ++i)
      each(i, [&](Offset k, LocalIndex key) { visit(i, k, key); });
  };
  for_each_part(parts, [&](int part) {
    LocalIndex* const count = of_part(part);
    for (std::size_t key = 0; key < width; ++key) count[key] = 0;
    items_of(part, [&](LocalIndex, Offset, LocalIndex key) { ++count[key]; });
  });
  const auto entries_of = [&](LocalIndex key) {
    Offset sum = 0;
    for (int part = 0; part < parts; ++part) sum += of_part(part)[key];
    return sum;
  };
  running_sums(keys, entries_of, offsets);
  for_parts(keys, [&](LocalIndex begin, LocalIndex end) {
    for (LocalIndex key = begin; key < end; ++key) {
      LocalIndex sum = 0;
      for (int part = 0; part < parts; ++part) sum += std::exchange(of_part(part)[key], sum);
    }
  });
  for_each_part(parts, [&](int part) {
    LocalIndex* const taken = of_part(part);
    items_of(part, [&](LocalIndex i, Offset k, LocalIndex key) { place(offsets[key] + taken[key]++, i, k); });
  });
}

}  // namespace block_eigs::host
