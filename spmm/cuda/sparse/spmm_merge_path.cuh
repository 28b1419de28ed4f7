#pragma once

#include "spmm/cuda/sparse/spmm_operands.cuh"

namespace block_eigs::cuda {

/// Where bundles end among the columns of A, found once when the matrix is analysed: what the first kernel of the
/// merge-based algorithm searches for in the paper.
struct MergePath {
  const std::uint32_t* ends = nullptr;  ///< bit k % 32 of word k / 32: column k is the last of its bundle
  const LocalIndex* bundles = nullptr;  ///< bundle that column 32 i belongs to
};

/// How a grid of blocks shares the columns of A: equal slices, one for each group of threads.
struct MergeTiles {
  MergePath path;
  int slice = 0;                 ///< columns of one slice
  int slice_bits = 0;            ///< where that is a power of two: which
  unsigned tiles = 0;            ///< blocks, those for empty rows apart
  char* carries = nullptr;       ///< two records of sums a tile and slab
  unsigned* arrivals = nullptr;  ///< a tile and slab; all zero between launches
};

/// The part of the merge path that one slice walks.
struct MergeSlice {
  Offset begin = 0;
  int length = 0;
  LocalIndex bundle = 0;      ///< that of the first column
  bool opens_inside = false;  ///< that bundle began before the slice

  __device__ MergeSlice(const MergePath& path, Offset first, Offset total, int slice) : begin(first) {
    length = static_cast<int>(max(min(total - first, static_cast<Offset>(slice)), Offset{0}));
    if (length == 0) return;
    bundle = bundle_of(path, first);
    opens_inside = first > 0 && !ends_bundle(path, first - 1);
  }

  __device__ static LocalIndex bundle_of(const MergePath& path, Offset column) {
    const std::uint32_t before = (1u << (column % 32)) - 1;
    return __ldg(path.bundles + column / 32) + __popc(__ldg(path.ends + column / 32) & before);
  }

  __device__ static bool ends_bundle(const MergePath& path, Offset column) {
    return (__ldg(path.ends + column / 32) >> (column % 32)) & 1;
  }

  /// Bit i: column k + i of the slice is the last of its bundle. Bits behind the slice, and behind the word of the
  /// path that column k is in, mean nothing. k is 0 or a multiple of 32, as are the beginnings of slices that
  /// long.
  __device__ std::uint32_t ends(const MergePath& path, int k) const {
    return __ldg(path.ends + (begin + k) / 32) >> (begin % 32);
  }

  /// Whether some bundle ends in the slice.
  __device__ bool ends_one(const MergePath& path) const {
    for (int k = 0; k < length; k += 32) {
      if ((ends(path, k) & (~0u >> (32 - min(length - k, 32)))) != 0) return true;
    }
    return false;
  }
};

}  // namespace block_eigs::cuda
