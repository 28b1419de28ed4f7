#pragma once

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "solver/multigrid/aggregation/large_pages.hpp"
#include "spmm/types.hpp"

namespace block_eigs::aggregation {

/// Arrays with global columns end as CsrRows; the others are work space, and the larger part.
template <class Column, class T>
using ArrayFor =
    std::vector<T, std::conditional_t<std::is_same_v<Column, GlobalIndex>, std::allocator<T>, LargePages<T>>>;

/// Rows of a sparse matrix on their way: row i has the entries offsets[i] .. offsets[i + 1] - 1.
template <class Column>
struct SparseRows {
  std::vector<Offset> offsets{0};
  ArrayFor<Column, Column> columns;
  ArrayFor<Column, double> values;

  LocalIndex rows() const { return static_cast<LocalIndex>(offsets.size()) - 1; }
  std::size_t begin(LocalIndex i) const { return static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]); }
  std::size_t end(LocalIndex i) const {
    return static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]);
  }
  /// Ends the row that has been appended to.
  void close_row() { offsets.push_back(static_cast<Offset>(columns.size())); }
};

/// Runs step(part, parts) on every thread. The first exception is thrown again here.
template <class Step>
void on_threads(const Step& step) {
  const int parts = omp_get_max_threads();
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(parts));
#pragma omp parallel for schedule(static, 1) num_threads(parts)
  for (int part = 0; part < parts; ++part) {
    try {
      step(part, parts);
    } catch (...) {
      failures[static_cast<std::size_t>(part)] = std::current_exception();
    }
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

/// Row part `part` of `parts` begins here.
constexpr LocalIndex part_begin(LocalIndex rows, int part, int parts) {
  return static_cast<LocalIndex>(std::int64_t{rows} * part / parts);
}

/// All parts one below the other.
template <class Column>
SparseRows<Column> joined(std::vector<SparseRows<Column>> parts) {
  if (parts.size() == 1) return std::move(parts.front());
  SparseRows<Column> result;
  std::vector<std::size_t> firsts{0};
  for (const SparseRows<Column>& part : parts) {
    for (std::size_t i = 1; i < part.offsets.size(); ++i)
      result.offsets.push_back(part.offsets[i] + static_cast<Offset>(firsts.back()));
    firsts.push_back(firsts.back() + part.columns.size());
  }
  result.columns.resize(firsts.back());
  result.values.resize(firsts.back());
  on_threads([&](int thread, int threads) {
    for (auto p = static_cast<std::size_t>(thread); p < parts.size(); p += static_cast<std::size_t>(threads)) {
      std::copy(parts[p].columns.begin(), parts[p].columns.end(),
                result.columns.begin() + static_cast<std::ptrdiff_t>(firsts[p]));
      std::copy(parts[p].values.begin(), parts[p].values.end(),
                result.values.begin() + static_cast<std::ptrdiff_t>(firsts[p]));
      parts[p] = {};
    }
  });
  return result;
}

/// Rows 0 .. rows - 1, made by all threads: make_worker() gives every thread an object of its own, and
/// worker(i, out) appends row i to `out`, which is closed here. About `entries_per_row` are expected.
template <class Column, class MakeWorker>
SparseRows<Column> build_rows(LocalIndex rows, double entries_per_row, const MakeWorker& make_worker) {
  std::vector<SparseRows<Column>> parts(static_cast<std::size_t>(omp_get_max_threads()));
  on_threads([&](int part, int count) {
    const LocalIndex begin = part_begin(rows, part, count);
    const LocalIndex end = part_begin(rows, part + 1, count);
    auto worker = make_worker();
    SparseRows<Column> out;
    const auto expected = static_cast<std::size_t>(entries_per_row * (end - begin));
    out.offsets.reserve(static_cast<std::size_t>(end - begin) + 1);
    out.columns.reserve(expected);
    out.values.reserve(expected);
    for (LocalIndex i = begin; i < end; ++i) {
      worker(i, out);
      out.close_row();
    }
    parts[static_cast<std::size_t>(part)] = std::move(out);
  });
  return joined(std::move(parts));
}

}  // namespace block_eigs::aggregation
