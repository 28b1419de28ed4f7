#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "spmm/cuda/runtime/cuda_device.hpp"
#include "spmm/device/buffer.hpp"
#include "spmm/device/csr_buffers.hpp"

namespace block_eigs::cuda {

/// Lengths of the rows of A that have nonzeros.
struct RowStatistics {
  LocalIndex rows = 0;  ///< with nonzeros
  LocalIndex empty_rows = 0;
  Offset nonzeros = 0;
  double mean = 0.0;
  Offset longest = 0;
  Offset columns_total = 0;  ///< nonzeros, those of a bundle counted once
  double apart = 0.0;        ///< columns from a row's middle nonzero to that of the row before, in the mean
};

/// What is known of the pattern of A before the first product. Arrays, in device memory, are there where some rows
/// are empty; else A's own serve.
struct SparsePattern {
  RowStatistics statistics;
  bool worth_bundling = false;       ///< many rows are like the one before
  Buffer<Offset> offsets;            ///< of the rows with nonzeros, one after the other
  Buffer<LocalIndex> targets;        ///< rows of C that they belong to
  Buffer<LocalIndex> empty_targets;  ///< and those of the others
  std::vector<Offset> most_columns;  ///< in a run of 2^i rows with nonzeros, see most_in_runs
};

/// Row i of `offsets` and `columns` belongs to row row_map[i] of C, without a map to row i; all in device memory.
/// Queued on `stream`, that of Queue::compute; waits.
SparsePattern find_pattern(const std::shared_ptr<CudaDevice>& device, cudaStream_t stream, const Offset* offsets,
                           const LocalIndex* columns, LocalIndex rows, Offset nonzeros, const LocalIndex* row_map);

/// Bundles of more columns may be shared by several tiles of merge_by_lanes.
inline constexpr Offset longest_whole_bundle = 256;

/// The arrays of MergePath.
struct MergePathArrays {
  Buffer<std::uint32_t> ends;
  Buffer<LocalIndex> bundles;
  Buffer<std::uint16_t> back;
};

/// `column_offsets`, in device memory, are those of `bundles` bundles with `columns` columns in all, none of them
/// empty. Queued on `stream`.
MergePathArrays find_merge_path(const std::shared_ptr<Device>& device, cudaStream_t stream,
                                const Offset* column_offsets, LocalIndex bundles, Offset columns);

}  // namespace block_eigs::cuda
