#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "spmm/cuda/runtime/cuda_device.hpp"
#include "spmm/cuda/sparse/spmm_pattern.hpp"
#include "spmm/device/buffer.hpp"

namespace block_eigs::cuda {

// What is learnt of a matrix where it is. Queued on `stream`.

/// What find_pattern() would find, but bundles, from arrays in device memory, where no row is empty. Nothing
/// elsewhere. Waits.
std::optional<SparsePattern> find_plain_pattern(const std::shared_ptr<CudaDevice>& device, cudaStream_t stream,
                                                const Offset* row_offsets, const LocalIndex* columns,
                                                LocalIndex rows);

/// The arrays of MergePath: bit k % 32 of word k / 32 marks the last column of a bundle, and the bundle that
/// column 32 i belongs to.
struct MergePathArrays {
  Buffer<std::uint32_t> ends;
  Buffer<LocalIndex> bundles;
};

/// `column_offsets`, in device memory, are those of `bundles` bundles with `columns` columns in all, none of them
/// empty.
MergePathArrays find_merge_path(const std::shared_ptr<Device>& device, cudaStream_t stream,
                                const Offset* column_offsets, LocalIndex bundles, Offset columns);

}  // namespace block_eigs::cuda
