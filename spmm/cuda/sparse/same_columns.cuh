#pragma once

#include "spmm/types.hpp"

namespace block_eigs::cuda {

/// Whether two rows have nonzeros in the same places.
inline __device__ bool same_columns(const Offset* offsets, const LocalIndex* columns, LocalIndex row,
                                    LocalIndex other) {
  const Offset begin = offsets[row];
  const Offset length = offsets[row + 1] - begin;
  const Offset before = offsets[other];
  if (offsets[other + 1] - before != length) return false;
  for (Offset k = 0; k < length; ++k) {
    if (columns[begin + k] != columns[before + k]) return false;
  }
  return true;
}

/// From this mean length on, a block looks at a row, not a thread.
constexpr Offset mean_of_long_rows = 256;
/// Blocks go from row to row in steps of the grid.
constexpr LocalIndex most_blocks_of_long_rows = 65536;

/// The same for row `row` and the one before by all threads of a block, all of which get the answer.
inline __device__ bool same_columns_by_block(const Offset* offsets, const LocalIndex* columns, LocalIndex row) {
  constexpr int at_once = 4;
  const Offset begin = offsets[row];
  const Offset length = offsets[row + 1] - begin;
  const Offset before = offsets[row - 1];
  if (begin - before != length) return false;
  for (Offset first = 0; first < length; first += static_cast<Offset>(at_once) * blockDim.x) {
    bool differs = false;
#pragma unroll
    for (int u = 0; u < at_once; ++u) {
      const Offset k = first + u * static_cast<Offset>(blockDim.x) + threadIdx.x;
      if (k < length) differs |= columns[begin + k] != columns[before + k];
    }
    if (__syncthreads_or(differs)) return false;
  }
  return true;
}

}  // namespace block_eigs::cuda
