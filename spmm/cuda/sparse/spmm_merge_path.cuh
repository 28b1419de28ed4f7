#pragma once

#include "spmm/cuda/sparse/spmm_operands.cuh"

namespace block_eigs::cuda {

/// Where bundles end among the columns of A, found once when the matrix is analysed: what the first kernel of the
/// merge-based algorithm searches for in the paper.
struct MergePath {
  const std::uint32_t* ends = nullptr;  ///< bit k % 32 of word k / 32: column k is the last of its bundle; a word
                                        ///< more than there are columns for, of zeros
  const LocalIndex* bundles = nullptr;  ///< bundle that column 32 i belongs to
  const std::uint16_t* back = nullptr;  ///< columns of that bundle before column 32 i; 0 where it is a long one
};

/// How a grid of blocks shares the columns of A: equal slices, one for each group of threads.
struct MergeTiles {
  MergePath path;
  int slice = 0;                 ///< columns of one slice
  int tile = 0;                  ///< columns from tile to tile, a multiple of 32
  int places = 0;                ///< elements of A that a block has shared memory for
  unsigned tiles = 0;            ///< blocks, those for empty rows apart
  char* carries = nullptr;       ///< two records of sums a tile and slab
  unsigned* arrivals = nullptr;  ///< a tile and slab; all zero between launches
};

/// Columns of each of `slices` slices of a tile with `present` columns, `wish` at least.
__host__ __device__ inline int slice_length(int present, int slices, int wish) {
  return max(wish, (present + 4 * slices - 1) / (4 * slices) * 4);
}

/// The columns of one block.
struct MergeTile {
  Offset begin = 0;
  Offset end = 0;

  /// As many columns as all others but the last have.
  __device__ static MergeTile of_columns(const MergeTiles& merge, Offset total) {
    const Offset begin = static_cast<Offset>(blockIdx.x) * merge.tile;
    return {begin, min(begin + merge.tile, total)};
  }

  /// The same, but bundles which are not long are taken whole by the tile that they begin in.
  __device__ static MergeTile of_whole_bundles(const MergeTiles& merge, Offset total) {
    const MergeTile nominal = of_columns(merge, total);
    const int after = nominal.end < total ? __ldg(merge.path.back + nominal.end / 32) : 0;
    return {nominal.begin - __ldg(merge.path.back + nominal.begin / 32), nominal.end - after};
  }
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

  /// Bit i: column k + i of the slice is the last of its bundle. Bits behind the slice mean nothing.
  __device__ std::uint32_t ends(const MergePath& path, int k) const {
    const std::uint32_t* const word = path.ends + (begin + k) / 32;
    return __funnelshift_r(__ldg(word), __ldg(word + 1), static_cast<unsigned>((begin + k) % 32));
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
