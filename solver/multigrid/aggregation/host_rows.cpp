#include "solver/multigrid/aggregation/host_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace block_eigs::aggregation {

namespace {

template <class T>
std::vector<T> downloaded(Device& device, const T* from, Offset count) {
  std::vector<T> result(static_cast<std::size_t>(count));
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

}  // namespace

HostRows download_rows(Device& device, const CsrView<double>& a, LocalIndex first, const ColumnNumbers& columns) {
  HostRows rows;
  if (first == a.rows) return rows;
  rows.offsets = downloaded(device, a.row_offsets + first, a.rows - first + 1);
  const Offset begin = rows.offsets.front();
  const Offset entries = rows.offsets.back() - begin;
  for (Offset& offset : rows.offsets) offset -= begin;
  const std::vector<LocalIndex> local = downloaded(device, a.column_indices + begin, entries);
  rows.columns.resize(local.size());
  std::transform(local.begin(), local.end(), rows.columns.begin(),
                 [&](LocalIndex column) { return columns.global(column); });
  rows.values = downloaded(device, a.values + begin, entries);
  return rows;
}

CsrBuffers<double> upload_rows(const std::shared_ptr<Device>& device, const HostRows& rows,
                               const std::vector<std::size_t>& order, const ColumnNumbers& columns) {
  std::vector<Offset> offsets{0};
  std::vector<LocalIndex> places;
  std::vector<double> values;
  std::vector<std::pair<LocalIndex, double>> row;
  const auto before = [](const auto& x, const auto& y) { return x.first < y.first; };
  for (const std::size_t i : order) {
    row.clear();
    for (auto k = static_cast<std::size_t>(rows.offsets[i]); k < static_cast<std::size_t>(rows.offsets[i + 1]);
         ++k)
      row.emplace_back(columns.local(rows.columns[k]), rows.values[k]);
    // As the sender had them: own ones, then ghosts, and both ascend.
    if (!std::is_sorted(row.begin(), row.end(), before)) std::sort(row.begin(), row.end(), before);
    for (const auto& [column, value] : row) {
      places.push_back(column);
      values.push_back(value);
    }
    offsets.push_back(static_cast<Offset>(places.size()));
  }
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
