#pragma once

#include <algorithm>

#include "spmm/cuda/runtime/cuda_check.hpp"
#include "spmm/types.hpp"

namespace block_eigs::cuda {

constexpr int tile_threads = 256;
constexpr int tile_elements_per_thread = 8;
/// The widest block that element-wise kernels take: a thread block must hold a whole row in registers.
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
  const LocalIndex tiles = (rows + tile_rows - 1) / tile_rows;
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

/// Launches row_tiles over rows x cols elements. Throws RunError on blocks wider than widest_row.
template <class Operation>
void for_each_element(cudaStream_t stream, LocalIndex rows, LocalIndex cols, const Operation& operation,
                      std::string_view name) {
  if (rows == 0 || cols == 0) return;
  if (cols > widest_row) {
    throw RunError(std::string(name) + ": blocks of up to " + std::to_string(widest_row) +
                   " columns are supported on the GPU, this one has " + std::to_string(cols));
  }
  const LocalIndex tile_rows = widest_row / cols;
  const LocalIndex tiles = (rows - 1) / tile_rows + 1;
  row_tiles<<<static_cast<unsigned>(tiles), tile_threads, 0, stream>>>(rows, cols, tile_rows, operation);
  check_launch(name);
}

}  // namespace block_eigs::cuda
