#pragma once

#include <climits>
#include <cstdint>

#include "spmm/types.hpp"

namespace block_eigs::cuda {

/// Sums over the columns of one row, in a hash table of 2^k places, shared or in global memory, that L
/// neighbouring lanes of a warp work on.
struct RowTable {
  static constexpr LocalIndex empty = INT_MAX;

  LocalIndex* keys;
  double* values;  ///< null where columns are only counted
  int slots;

  template <int L>
  __device__ void clear(int lane) {
    for (int i = lane; i < slots; i += L) {
      keys[i] = empty;
      if (values != nullptr) values[i] = 0.0;
    }
  }

  /// The place of a column; adds one to `found` where it had none before.
  __device__ int place_of(LocalIndex column, int& found) {
    const int mask = slots - 1;
    // Knuth's multiplicative hash: the upper bits are the scattered ones.
    int place = static_cast<int>((static_cast<std::uint32_t>(column) * 2654435769u) >> (__clz(slots) + 1));
    for (;;) {
      LocalIndex key = static_cast<volatile LocalIndex*>(keys)[place];
      if (key == column) return place;
      if (key == empty) {
        key = atomicCAS(keys + place, empty, column);
        if (key == empty) ++found;
        if (key == empty || key == column) return place;
      }
      place = (place + 1) & mask;
    }
  }

  /// By ascending columns, empty places last (Batcher's bitonic sort).
  template <int L>
  __device__ void sort(int lane, unsigned lanes) {
    for (int run = 2; run <= slots; run *= 2) {
      for (int distance = run / 2; distance > 0; distance /= 2) {
        for (int i = lane; i < slots / 2; i += L) {
          const int first = 2 * i - (i & (distance - 1));
          const int second = first + distance;
          const LocalIndex left = keys[first];
          const LocalIndex right = keys[second];
          if ((left > right) != ((first & run) == 0)) continue;
          keys[first] = right;
          keys[second] = left;
          const double value = values[first];
          values[first] = values[second];
          values[second] = value;
        }
        __syncwarp(lanes);
      }
    }
  }
};

/// Rows by the size of the table that they need; the last class has tables in global memory.
struct RowClasses {
  static constexpr int count = 7;
  static constexpr int slots(int row_class) {
    constexpr int sizes[count] = {16, 64, 256, 1024, 4096, 8192, 0};
    return sizes[row_class];
  }
  /// Three quarters full at most.
  static __host__ __device__ int of(LocalIndex columns) {
    return columns <= 12     ? 0
           : columns <= 48   ? 1
           : columns <= 192  ? 2
           : columns <= 768  ? 3
           : columns <= 3072 ? 4
           : columns <= 6144 ? 5
                             : 6;
  }
};

}  // namespace block_eigs::cuda
