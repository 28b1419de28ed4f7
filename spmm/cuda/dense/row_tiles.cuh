#pragma once

#include <algorithm>

#include "spmm/cuda/runtime/cuda_check.hpp"
#include "spmm/types.hpp"

namespace block_eigs::cuda {

constexpr int tile_threads = 256;
constexpr int tile_elements_per_thread = 8;
/// The widest rows that a thread block holds in registers; wider ones pass through shared memory.
constexpr int widest_row = tile_threads * tile_elements_per_thread;

/// Element (i, j) of a block.
template <class View>
__device__ auto& element(const View& x, LocalIndex i, LocalIndex j) {
  return x.data[static_cast<std::ptrdiff_t>(i) * x.stride + j];
}

/// Runs `operation` over all elements of a block of `cols` columns: `load(i, j)` gives a value, `store(i, j,
/// value)` takes it. A thread block loads whole rows before it stores any of them, so that an output may lie in
/// the memory of an input, shifted within the row.
template <class Operation>
__global__ void __launch_bounds__(tile_threads)
    row_tiles(LocalIndex rows, LocalIndex cols, LocalIndex tile_rows, Operation operation) {
  using Value = decltype(operation.load(0, 0));
  Value values[tile_elements_per_thread];
  const LocalIndex tiles = rows / tile_rows + (rows % tile_rows != 0 ? 1 : 0);
  for (LocalIndex tile = static_cast<LocalIndex>(blockIdx.x); tile < tiles;
       tile += static_cast<LocalIndex>(gridDim.x)) {
    const LocalIndex first = tile * tile_rows;
    const LocalIndex elements = min(tile_rows, rows - first) * cols;
#pragma unroll
    for (int e = 0; e < tile_elements_per_thread; ++e) {
      const LocalIndex k = e * tile_threads + static_cast<LocalIndex>(threadIdx.x);
      if (k < elements) values[e] = operation.load(first + k / cols, k % cols);
    }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < tile_elements_per_thread; ++e) {
      const LocalIndex k = e * tile_threads + static_cast<LocalIndex>(threadIdx.x);
      if (k < elements) operation.store(first + k / cols, k % cols, values[e]);
    }
  }
}

/// As row_tiles for rows wider than widest_row: a thread block holds a row in shared memory.
template <class Operation>
__global__ void __launch_bounds__(tile_threads) wide_rows(LocalIndex rows, LocalIndex cols, Operation operation) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto* const values = reinterpret_cast<decltype(operation.load(0, 0))*>(shared);
  for (LocalIndex i = static_cast<LocalIndex>(blockIdx.x); i < rows; i += static_cast<LocalIndex>(gridDim.x)) {
    // Each thread stores what it has loaded itself: the barrier is there for the memory that others overwrite.
    for (LocalIndex j = static_cast<LocalIndex>(threadIdx.x); j < cols; j += tile_threads) {
      values[j] = operation.load(i, j);
    }
    __syncthreads();
    for (LocalIndex j = static_cast<LocalIndex>(threadIdx.x); j < cols; j += tile_threads) {
      operation.store(i, j, values[j]);
    }
  }
}

template <class Operation>
void for_each_of_wide_rows(cudaStream_t stream, LocalIndex rows, LocalIndex cols, const Operation& operation,
                           std::string_view name) {
  using Value = decltype(operation.load(0, 0));
  constexpr std::size_t without_asking = std::size_t{48} << 10;
  const std::size_t bytes = static_cast<std::size_t>(cols) * sizeof(Value);
  if (bytes > without_asking) {
    check(cudaFuncSetAttribute(wide_rows<Operation>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(bytes)),
          std::string(name) + " of blocks of " + std::to_string(cols) + " columns");
  }
  wide_rows<<<static_cast<unsigned>(rows), tile_threads, bytes, stream>>>(rows, cols, operation);
  check_launch(name);
}

/// Launches row_tiles over rows x cols elements, or wide_rows where they are wider. Throws RunError where a row
/// does not fit into shared memory (99 KiB or more, 12,000 doubles).
template <class Operation>
void for_each_element(cudaStream_t stream, LocalIndex rows, LocalIndex cols, const Operation& operation,
                      std::string_view name) {
  if (rows == 0 || cols == 0) return;
  if (cols > widest_row) return for_each_of_wide_rows(stream, rows, cols, operation, name);
  const LocalIndex tile_rows = widest_row / cols;
  const LocalIndex tiles = (rows - 1) / tile_rows + 1;
  row_tiles<<<static_cast<unsigned>(tiles), tile_threads, 0, stream>>>(rows, cols, tile_rows, operation);
  check_launch(name);
}

}  // namespace block_eigs::cuda
