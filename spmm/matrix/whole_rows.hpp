#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "spmm/device/csr_buffers.hpp"
#include "spmm/matrix/csr_rows.hpp"

namespace block_eigs {

/// How a rank numbers columns: its own ones, then those of others that its rows have entries in.
struct RankColumns {
  GlobalIndex begin = 0;  ///< of its own ones
  GlobalIndex end = 0;
  std::span<const GlobalIndex> ghosts{};  ///< ascending
};

/// All of `rows` in memory of the device, entries in their order. Column numbers are made those of `columns` and
/// looked at on the way there, so that there is no copy in host memory. Nothing where row offsets decrease, or
/// columns are out of range or out of order. Not collective; throws RunError where memory runs out.
std::optional<CsrBuffers<double>> upload_whole(const std::shared_ptr<Device>& device, const CsrRows& rows,
                                               const RankColumns& columns);

/// The rows of a square matrix whose entries are on the device already, in order, in range and in T: their
/// offsets, which are wider here, follow them. Not collective; throws RunError where memory runs out.
template <class T>
CsrBuffers<T> borrow_whole(const std::shared_ptr<Device>& device, const CsrRows& rows,
                           const DeviceEntries& resident) {
  const auto nonzeros = static_cast<std::size_t>(rows.nonzeros());
  auto pattern = std::make_shared<CsrPattern>();
  pattern->rows = rows.rows();
  pattern->columns = static_cast<LocalIndex>(rows.global_columns);
  pattern->nonzeros = rows.nonzeros();
  pattern->row_offsets = Buffer<Offset>(device, rows.row_offsets.size());
  pattern->row_offsets.upload(rows.row_offsets.data());
  // A buffer may be written to; matrices read theirs.
  pattern->column_indices =
      Buffer<LocalIndex>::borrowed(device, const_cast<LocalIndex*>(resident.column_indices), nonzeros);
  T* const values = const_cast<T*>(static_cast<const T*>(resident.values));
  return {std::move(pattern), Buffer<T>::borrowed(device, values, nonzeros)};
}

}  // namespace block_eigs
