#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "spmm/device/csr_buffers.hpp"
#include "spmm/matrix/csr_rows.hpp"
#include "spmm/matrix/split_rows.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs::test {

template <class T>
Buffer<T> uploaded(const std::shared_ptr<Device>& device, const std::vector<T>& values) {
  Buffer<T> buffer(device, values.size());
  buffer.upload(values.data());
  return buffer;
}

inline CsrBuffers<double> uploaded(const std::shared_ptr<Device>& device, const CsrArrays<double>& arrays) {
  auto pattern = std::make_shared<CsrPattern>();
  pattern->rows = static_cast<LocalIndex>(arrays.row_offsets.size()) - 1;
  pattern->columns = arrays.columns;
  pattern->nonzeros = arrays.row_offsets.back();
  pattern->row_offsets = uploaded(device, arrays.row_offsets);
  pattern->column_indices = uploaded(device, arrays.column_indices);
  return {std::move(pattern), uploaded(device, arrays.values)};
}

/// Own rows as they lie on a device, split on the host: for devices that stand in for a GPU, which cannot.
inline CsrParts<double> parts_of(const std::shared_ptr<Device>& device, CsrRows rows, const Partition& partition,
                                 int rank) {
  const GlobalIndex begin = partition.begin(rank);
  const GlobalIndex end = partition.end(rank);
  std::vector<GlobalIndex> ghosts = ghost_columns(rows, begin, end);
  SplitRows<double> split = block_eigs::split<double>(rows, begin, end, ghosts);
  CsrParts<double> parts{uploaded(device, split.own), {}, {}, std::move(ghosts)};
  if (parts.ghosts.empty()) return parts;
  parts.boundary = uploaded(device, split.boundary);
  parts.boundary_rows = uploaded(device, split.boundary.row_map);
  return parts;
}

}  // namespace block_eigs::test
