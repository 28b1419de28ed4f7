#pragma once

#include <algorithm>
#include <cstdint>

#include "spmm/types.hpp"

namespace block_eigs::cuda {

/// Two neighbouring columns of one row: what a thread moves and multiplies at a time.
template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T first, second;
};

/// Starts the copy of the first `valid` bytes of `Bytes` into shared memory; the others become zero. `global` is
/// not read where `valid` is 0.
template <int Bytes>
__device__ inline void copy_async(void* shared, const void* global, int valid) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
  const std::uint32_t target = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  if constexpr (Bytes == 16) {
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(target), "l"(global), "r"(valid)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2, %3;" ::"r"(target), "l"(global), "n"(Bytes),
                 "r"(valid)
                 : "memory");
  }
}

/// Closes the group of copies that this thread has started since the last call.
__device__ inline void close_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits until all but the latest `Pending` groups of this thread have arrived.
template <int Pending>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

/// Row numbers on the GPU: those just behind the last row of the largest block must not overflow.
using Row = std::uint32_t;

/// A run of columns of a block, from which pairs are copied.
template <class T>
struct alignas(16) Columns {
  T* data = nullptr;  ///< row 0, first column
  LocalIndex stride = 0;
  std::int16_t count = 0;
  std::int16_t aligned = 0;  ///< whether pairs lie on addresses that are multiples of their size
};

template <class T>
__device__ inline bool pairs_are_aligned(const T* data, LocalIndex stride) {
  return reinterpret_cast<std::uintptr_t>(data) % sizeof(Pair<T>) == 0 && stride % 2 == 0;
}

/// Whether all pairs of all views are complete and lie at multiples of their size.
template <class View>
bool has_even_pairs(const ViewList<View>& list) {
  return std::all_of(list.begin(), list.end(), [](const View& view) {
    return view.cols % 2 == 0 && view.stride % 2 == 0 &&
           reinterpret_cast<std::uintptr_t>(view.data) % (2 * sizeof(*view.data)) == 0;
  });
}

/// Starts the copy of a pair that lies at a multiple of its size, or of zeros where it is not `present`.
template <class T>
__device__ inline void copy_aligned_pair(Pair<T>* shared, const T* global, bool present) {
  constexpr int bytes = static_cast<int>(sizeof(Pair<T>));
  copy_async<bytes>(shared, global, present ? bytes : 0);
}

/// Starts the copy of the pair at `column` of row `row`; columns from `count` on, and rows where `present` is
/// false, become zero.
template <class T>
__device__ inline void copy_pair_async(Pair<T>* shared, const Columns<const T>& from, Row row, int column,
                                       bool present) {
  const int valid = present ? min(max(from.count - column, 0), 2) : 0;
  const T* global =
      valid == 0 ? from.data : from.data + static_cast<std::size_t>(row) * static_cast<Row>(from.stride) + column;
  constexpr int bytes = static_cast<int>(sizeof(T));
  if (from.aligned != 0) {
    copy_async<2 * bytes>(shared, global, valid * bytes);
  } else {
    copy_async<bytes>(&shared->first, global, valid > 0 ? bytes : 0);
    copy_async<bytes>(&shared->second, valid > 1 ? global + 1 : global, valid > 1 ? bytes : 0);
  }
}

}  // namespace block_eigs::cuda
