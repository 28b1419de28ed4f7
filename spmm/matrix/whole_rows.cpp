#include "spmm/matrix/whole_rows.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace block_eigs {

namespace {

/// From 0 to the number of entries, never less than before.
bool has_right_offsets(const CsrRows& rows) {
  const std::vector<Offset>& offsets = rows.row_offsets;
  if (rows.columns.size() != rows.values.size() || offsets.empty() || offsets.front() != 0 ||
      offsets.back() != static_cast<Offset>(rows.columns.size()))
    return false;
  bool right = true;
#pragma omp parallel for schedule(static) reduction(&& : right)
  for (std::size_t i = 1; i < offsets.size(); ++i) right = right && offsets[i - 1] <= offsets[i];
  return right;
}

LocalIndex local_number(const RankColumns& columns, GlobalIndex column) {
  if (column >= columns.begin && column < columns.end) return static_cast<LocalIndex>(column - columns.begin);
  const auto ghost = std::lower_bound(columns.ghosts.begin(), columns.ghosts.end(), column);
  return static_cast<LocalIndex>(columns.end - columns.begin + (ghost - columns.ghosts.begin()));
}

/// Entries begin .. end - 1 in local column numbers; whether columns ascend in each row, from 0 to fewer than
/// there are.
bool narrow(const CsrRows& rows, std::size_t begin, std::size_t end, const RankColumns& columns, LocalIndex* to) {
  const auto after =
      std::upper_bound(rows.row_offsets.begin(), rows.row_offsets.end(), static_cast<Offset>(begin));
  auto row = static_cast<std::size_t>(after - rows.row_offsets.begin()) - 1;
  bool right = true;
  for (std::size_t k = begin; k < end; ++row) {
    const auto last = std::min(end, static_cast<std::size_t>(rows.row_offsets[row + 1]));
    GlobalIndex before = k > static_cast<std::size_t>(rows.row_offsets[row]) ? rows.columns[k - 1] : -1;
    for (; k < last; ++k) {
      const GlobalIndex column = rows.columns[k];
      right &= column > before;
      before = column;
      *to++ = local_number(columns, column);
    }
    right &= before < rows.global_columns;
  }
  return right;
}

}  // namespace

std::optional<CsrBuffers<double>> upload_whole(const std::shared_ptr<Device>& device, const CsrRows& rows,
                                               const RankColumns& columns) {
  if (!has_right_offsets(rows)) return std::nullopt;
  auto pattern = std::make_shared<CsrPattern>();
  pattern->rows = rows.rows();
  pattern->columns =
      static_cast<LocalIndex>(columns.end - columns.begin) + static_cast<LocalIndex>(columns.ghosts.size());
  pattern->nonzeros = rows.nonzeros();
  pattern->row_offsets = Buffer<Offset>(device, rows.row_offsets.size());
  pattern->column_indices = Buffer<LocalIndex>(device, rows.columns.size());
  Buffer<double> values(device, rows.values.size());
  // The narrowing of columns says whether the others need to travel.
  std::atomic<bool> right = true;
  const auto columns_from = [&](char* to, std::size_t begin, std::size_t count) {
    constexpr std::size_t width = sizeof(LocalIndex);
    if (!narrow(rows, begin / width, (begin + count) / width, columns, reinterpret_cast<LocalIndex*>(to)))
      right = false;
  };
  device->make_on_device(pattern->column_indices.data(), columns_from, rows.columns.size() * sizeof(LocalIndex),
                         Queue::compute);
  if (!right) return std::nullopt;
  const auto send = [&](auto* to, const auto& from) {
    device->copy_to_device(to, from.data(), from.size() * sizeof(from.front()), Queue::compute);
  };
  send(pattern->row_offsets.data(), rows.row_offsets);
  if (!rows.values.empty()) send(values.data(), rows.values);
  device->synchronize(Queue::compute);
  return CsrBuffers<double>{std::move(pattern), std::move(values)};
}

}  // namespace block_eigs
