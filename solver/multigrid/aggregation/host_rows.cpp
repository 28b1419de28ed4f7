#include "solver/multigrid/aggregation/host_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>

#include "spmm/first_error.hpp"
#include "spmm/large_vectors.hpp"

namespace block_eigs::aggregation {

namespace {

/// Fewer are left to one thread: a team of them meets too late.
constexpr std::size_t entries_of_a_team = 1 << 14;

template <class T>
std::vector<T> downloaded(Device& device, const T* from, Offset count) {
  std::vector<T> result;
  resize_large(result, static_cast<std::size_t>(count));
  if (count > 0) device.copy_to_host(result.data(), from, result.size() * sizeof(T), Queue::compute);
  device.synchronize(Queue::compute);
  return result;
}

template <class T>
Buffer<T> uploaded(const std::shared_ptr<Device>& device, const std::vector<T>& values) {
  Buffer<T> result(device, values.size());
  result.upload(values.data());
  return result;
}

/// Puts a row into local numbers as the sender had it: own columns, then ghosts, and both ascend. `pairs` is room
/// for it.
void take_row(const GlobalIndex* globals, const double* from, std::size_t count, const ColumnNumbers& columns,
              LocalIndex* places, double* values, std::vector<std::pair<LocalIndex, double>>& pairs) {
  bool ascending = true;
  for (std::size_t k = 0; k < count; ++k) {
    places[k] = columns.local(globals[k]);
    ascending = ascending && (k == 0 || places[k - 1] <= places[k]);
  }
  std::copy_n(from, count, values);
  if (ascending) return;
  pairs.clear();
  for (std::size_t k = 0; k < count; ++k) pairs.emplace_back(places[k], values[k]);
  std::sort(pairs.begin(), pairs.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  for (std::size_t k = 0; k < count; ++k) std::tie(places[k], values[k]) = pairs[k];
}

}  // namespace

HostRows download_rows(Device& device, const CsrView<double>& a, LocalIndex first, const ColumnNumbers& columns) {
  HostRows rows;
  if (first == a.rows) return rows;
  rows.offsets = downloaded(device, a.row_offsets + first, a.rows - first + 1);
  const Offset begin = rows.offsets.front();
  const Offset entries = rows.offsets.back() - begin;
  for (Offset& offset : rows.offsets) offset -= begin;
  const std::vector<LocalIndex> local = downloaded(device, a.column_indices + begin, entries);
  resize_large(rows.columns, local.size());
#pragma omp parallel for schedule(static) if (local.size() >= entries_of_a_team)
  for (std::size_t k = 0; k < local.size(); ++k) rows.columns[k] = columns.global(local[k]);
  rows.values = downloaded(device, a.values + begin, entries);
  return rows;
}

CsrBuffers<double> upload_rows(const std::shared_ptr<Device>& device, const HostRows& rows,
                               const std::vector<std::size_t>& order, const ColumnNumbers& columns) {
  std::vector<Offset> offsets(order.size() + 1, 0);
  for (std::size_t at = 0; at < order.size(); ++at)
    offsets[at + 1] = offsets[at] + rows.offsets[order[at] + 1] - rows.offsets[order[at]];
  std::vector<LocalIndex> places;
  std::vector<double> values;
  resize_large(places, static_cast<std::size_t>(offsets.back()));
  resize_large(values, places.size());
  FirstError failure;
#pragma omp parallel if (places.size() >= entries_of_a_team)
  {
    std::vector<std::pair<LocalIndex, double>> pairs;
#pragma omp for schedule(dynamic, 256)
    for (std::size_t at = 0; at < order.size(); ++at) {
      failure.run([&] {
        const auto from = static_cast<std::size_t>(rows.offsets[order[at]]);
        const auto to = static_cast<std::size_t>(offsets[at]);
        take_row(rows.columns.data() + from, rows.values.data() + from,
                 static_cast<std::size_t>(offsets[at + 1] - offsets[at]), columns, places.data() + to,
                 values.data() + to, pairs);
      });
    }
  }
  failure.rethrow();
  auto pattern = std::make_shared<CsrPattern>();
  pattern->rows = static_cast<LocalIndex>(order.size());
  pattern->columns = columns.all();
  pattern->nonzeros = offsets.back();
  pattern->row_offsets = uploaded(device, offsets);
  pattern->column_indices = uploaded(device, places);
  return {std::move(pattern), uploaded(device, values)};
}

CsrBuffers<double> upload_rows(const std::shared_ptr<Device>& device, const HostRows& rows,
                               const ColumnNumbers& columns) {
  std::vector<std::size_t> order(rows.rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return upload_rows(device, rows, order, columns);
}

void RowMessages::add(int rank, std::span<const GlobalIndex> numbers, const HostRows& rows, std::size_t first) {
  const auto to = static_cast<std::size_t>(rank);
  std::vector<std::int64_t>& heads = heads_[to];
  heads.reserve(heads.size() + 2 * numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    heads.push_back(numbers[i]);
    heads.push_back(rows.offsets[first + i + 1] - rows.offsets[first + i]);
  }
  const auto begin = static_cast<std::ptrdiff_t>(rows.offsets[first]);
  const auto end = static_cast<std::ptrdiff_t>(rows.offsets[first + numbers.size()]);
  columns_[to].insert(columns_[to].end(), rows.columns.begin() + begin, rows.columns.begin() + end);
  values_[to].insert(values_[to].end(), rows.values.begin() + begin, rows.values.begin() + end);
}

void RowMessages::exchange(const Communicator& comm) {
  heads_ = comm.all_to_all(heads_);
  columns_ = comm.all_to_all(columns_);
  values_ = comm.all_to_all(values_);
}

HostRows RowMessages::received(std::vector<GlobalIndex>& numbers) const {
  HostRows rows;
  std::size_t count = 0;
  std::size_t entries = 0;
  for (std::size_t rank = 0; rank < heads_.size(); ++rank) {
    count += heads_[rank].size() / 2;
    entries += values_[rank].size();
  }
  numbers.reserve(count);
  rows.offsets.reserve(count + 1);
  rows.columns.reserve(entries);
  rows.values.reserve(entries);
  for (std::size_t rank = 0; rank < heads_.size(); ++rank) {
    for (std::size_t at = 0; at < heads_[rank].size(); at += 2) {
      numbers.push_back(heads_[rank][at]);
      rows.offsets.push_back(rows.offsets.back() + heads_[rank][at + 1]);
    }
    rows.columns.insert(rows.columns.end(), columns_[rank].begin(), columns_[rank].end());
    rows.values.insert(rows.values.end(), values_[rank].begin(), values_[rank].end());
  }
  return rows;
}

}  // namespace block_eigs::aggregation
