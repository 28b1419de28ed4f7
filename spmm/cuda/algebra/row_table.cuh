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

  /// The place of a column; adds one to `found` where it had none before. -1 where the table is full.
  __device__ int place_of(LocalIndex column, int& found) {
    const int mask = slots - 1;
    // Knuth's multiplicative hash: the upper bits are the scattered ones.
    int place = static_cast<int>((static_cast<std::uint32_t>(column) * 2654435769u) >> (__clz(slots) + 1));
    for (int probe = 0; probe < slots; ++probe) {
      LocalIndex key = static_cast<volatile LocalIndex*>(keys)[place];
      if (key == column) return place;
      if (key == empty) {
        key = atomicCAS(keys + place, empty, column);
        if (key == empty) ++found;
        if (key == empty || key == column) return place;
      }
      place = (place + 1) & mask;
    }
    return -1;
  }

  /// Moves all entries to the front; returns how many they are.
  template <int L>
  __device__ int compact(int lane, unsigned lanes) {
    const int first_lane = __ffs(static_cast<int>(lanes)) - 1;
    int kept = 0;
    for (int i = lane; i < slots; i += L) {
      const LocalIndex key = keys[i];
      const double value = values[i];
      const unsigned full = (__ballot_sync(lanes, key != empty) & lanes) >> first_lane;
      __syncwarp(lanes);
      if (key != empty) {
        const int to = kept + __popc(full & ((1u << lane) - 1));
        keys[to] = key;
        values[to] = value;
      }
      kept += __popc(full);
      __syncwarp(lanes);
    }
    return kept;
  }

  /// The first `count` places by ascending columns (Batcher's bitonic sort).
  template <int L>
  __device__ void sort(int count, int lane, unsigned lanes) {
    int size = 1;
    while (size < count) size *= 2;
    for (int i = count + lane; i < size; i += L) keys[i] = empty;
    __syncwarp(lanes);
    for (int run = 2; run <= size; run *= 2) {
      for (int distance = run / 2; distance > 0; distance /= 2) {
        for (int i = lane; i < size / 2; i += L) {
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

/// Rows by the size of the table that they need: lists for the shortest rows, a thread each, then hash tables,
/// those of the last class in global memory. What has no class (a negative need) is left alone.
struct RowClasses {
  static constexpr int count = 7;
  static constexpr LocalIndex longest_list = 32;
  static constexpr int slots(int row_class) {
    constexpr int sizes[count] = {longest_list, 128, 512, 2048, 4096, 8192, 0};
    return sizes[row_class];
  }
  /// Sparse enough that few columns meet, where shared memory allows that.
  static __host__ __device__ int of(LocalIndex columns) {
    if (columns <= longest_list) return 0;
    if (columns <= 192) return columns <= 48 ? 1 : 2;
    if (columns <= 2048) return columns <= 768 ? 3 : 4;
    return columns <= 5461 ? 5 : 6;
  }
  /// For `count` different columns among `entries`: lists are for threads that have little to do.
  static __host__ __device__ LocalIndex need(LocalIndex count, LocalIndex entries) {
    return count <= longest_list && entries > 2 * longest_list ? longest_list + 1 : count;
  }
  static constexpr LocalIndex least_hope = 48;
  /// A row whose terms have so many entries is first tried with a table for a quarter of what it may come to.
  static __host__ __device__ LocalIndex hoped_for(LocalIndex entries, LocalIndex columns) {
    const LocalIndex most = entries < columns ? entries : columns;
    const LocalIndex quarter = most / 4 > least_hope ? most / 4 : least_hope;
    return need(most < quarter ? most : quarter, entries);
  }
};

}  // namespace block_eigs::cuda
