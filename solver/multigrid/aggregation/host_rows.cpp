#include "solver/multigrid/aggregation/host_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "spmm/first_error.hpp"
#include "spmm/large_vectors.hpp"

namespace block_eigs::aggregation {

namespace {

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

/// Row i in local numbers as the sender had it: own columns, then ghosts, and both ascend.
void take_row(const HostRows& rows, std::size_t i, const ColumnNumbers& columns,
              std::vector<std::pair<LocalIndex, double>>& row) {
  row.clear();
  for (auto k = static_cast<std::size_t>(rows.offsets[i]); k < static_cast<std::size_t>(rows.offsets[i + 1]); ++k)
    row.emplace_back(columns.local(rows.columns[k]), rows.values[k]);
  const auto before = [](const auto& x, const auto& y) { return x.first < y.first; };
  if (!std::is_sorted(row.begin(), row.end(), before)) std::sort(row.begin(), row.end(), before);
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
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < local.size(); ++k) rows.columns[k] = columns.global(local[k]);
  rows.values = downloaded(device, a.values + begin, entries);
  return rows;
}

CsrBuffers<double> upload_rows(const std::shared_ptr<Device>& device, const HostRows& rows,
                               const std::vector<std::size_t>& order, const ColumnNumbers& columns) {
  std::vector<Offset> offsets{0};
  for (const std::size_t i : order) offsets.push_back(offsets.back() + rows.offsets[i + 1] - rows.offsets[i]);
  std::vector<LocalIndex> places;
  std::vector<double> values;
  resize_large(places, static_cast<std::size_t>(offsets.back()));
  resize_large(values, places.size());
  FirstError failure;
#pragma omp parallel
  {
    std::vector<std::pair<LocalIndex, double>> row;
#pragma omp for schedule(dynamic, 64)
    for (std::size_t at = 0; at < order.size(); ++at) {
      failure.run([&] {
        take_row(rows, order[at], columns, row);
        auto to = static_cast<std::size_t>(offsets[at]);
        for (const auto& [column, value] : row) {
          places[to] = column;
          values[to++] = value;
        }
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

void RowMessages::add(int rank, GlobalIndex number, const HostRows& rows, std::size_t i) {
  const auto to = static_cast<std::size_t>(rank);
  const auto first = static_cast<std::ptrdiff_t>(rows.offsets[i]);
  const auto last = static_cast<std::ptrdiff_t>(rows.offsets[i + 1]);
  places_[to].push_back(number);
  places_[to].push_back(last - first);
  places_[to].insert(places_[to].end(), rows.columns.begin() + first, rows.columns.begin() + last);
  values_[to].insert(values_[to].end(), rows.values.begin() + first, rows.values.begin() + last);
}

void RowMessages::exchange(const Communicator& comm) {
  places_ = comm.all_to_all(places_);
  values_ = comm.all_to_all(values_);
}

HostRows RowMessages::received(std::vector<GlobalIndex>& numbers) const {
  HostRows rows;
  for (std::size_t rank = 0; rank < places_.size(); ++rank) {
    const std::vector<std::int64_t>& from = places_[rank];
    for (std::size_t at = 0; at < from.size();) {
      const auto columns = from.begin() + static_cast<std::ptrdiff_t>(at) + 2;
      rows.columns.insert(rows.columns.end(), columns, columns + from[at + 1]);
      rows.offsets.push_back(static_cast<Offset>(rows.columns.size()));
      numbers.push_back(from[at]);
      at += 2 + static_cast<std::size_t>(from[at + 1]);
    }
    rows.values.insert(rows.values.end(), values_[rank].begin(), values_[rank].end());
  }
  return rows;
}

}  // namespace block_eigs::aggregation
