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

}  // namespace block_eigs::cuda
