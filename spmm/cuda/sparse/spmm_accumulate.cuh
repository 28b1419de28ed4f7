#pragma once

#include <type_traits>

#include "spmm/cuda/sparse/spmm_bundles.hpp"
#include "spmm/cuda/sparse/spmm_operands.cuh"

namespace block_eigs::cuda {

/// Where columns and values are read from. Global memory: all at once, before the rows of B are asked for. Shared
/// memory: values only when they are needed, which saves registers.
enum class ReadFrom { global, shared };

/// One step of `accumulate` over U columns, of which those from `end` on do not count where `Partial`.
template <int U, int Step, bool Partial, ReadFrom Source, int R, int P, class Columns, class PackType,
          class ColumnOf, class ValueOf>
__device__ __forceinline__ void accumulate_step(int k, int end, const Columns& columns, ColumnOf column,
                                                ValueOf value, PackType (&sums)[R][P]) {
  using T = decltype(value(0, 0));
  LocalIndex index[U];
  T factors[U][R];
  PackType rows[U][P];
  const auto there = [&](int u) { return !Partial || k + u * Step < end; };
  // What is not there gets a value too: else registers keep what they had for the next row.
#pragma unroll
  for (int u = 0; u < U; ++u) index[u] = there(u) ? column(k + u * Step) : 0;
  if constexpr (Source == ReadFrom::global) {
#pragma unroll
    for (int i = 0; i < U * R; ++i) {
      if (there(i / R)) factors[i / R][i % R] = value(k + i / R * Step, i % R);
    }
  }
#pragma unroll
  for (int u = 0; u < U; ++u) {
    if (there(u)) {
      columns.load(index[u], rows[u]);
    } else {
#pragma unroll
      for (int i = 0; i < P; ++i) rows[u][i] = zero_pack<PackType>();
    }
  }
#pragma unroll
  for (int u = 0; u < U; ++u) {
    if (!there(u)) continue;
#pragma unroll
    for (int j = 0; j < R; ++j) {
      const T factor = Source == ReadFrom::global ? factors[u][j] : value(k + u * Step, j);
#pragma unroll
      for (int i = 0; i < P; ++i) add_product(sums[j][i], factor, rows[u][i]);
    }
  }
}

/// The arithmetic of the row-wise kernels: sums[j] += sum over k = begin, begin + Step, ... < end of
/// value(k, j) * (row column(k) of B), for the R rows j of a bundle. U rows of B are on their way at once; what
/// is left over is done in one predicated step, so that a short row waits for memory once.
template <int U, int Step, ReadFrom Source, int R, int P, class Columns, class PackType, class ColumnOf,
          class ValueOf>
__device__ __forceinline__ void accumulate(int begin, int end, const Columns& columns, ColumnOf column,
                                           ValueOf value, PackType (&sums)[R][P]) {
  int k = begin;
  for (; k + (U - 1) * Step < end; k += U * Step) {
    accumulate_step<U, Step, false, Source>(k, end, columns, column, value, sums);
  }
  if constexpr (U > 1) {
    if (k < end) accumulate_step<U - 1, Step, true, Source>(k, end, columns, column, value, sums);
  }
}

/// Where a warp keeps the columns and values that it works on, and those that come next: enough for a few steps of
/// its 32 / L groups of lanes, in 5 KB at most.
template <class T, int R, int L>
struct alignas(16) WarpStage {
  static constexpr int rows = R;
  static constexpr int steps = 4 / L > 1 ? 4 / L : 1;
  static constexpr int chunk = R * sizeof(T) > 16 && steps > 2 ? 64 : 32 * steps;
  LocalIndex column[2][chunk];
  T value[2][R][chunk];
};

/// Calls work(buffer, count) for one chunk after the other of a bundle's columns and values, which are copied to
/// the warp's stage in shared memory while it works on those before. Columns [begin, end) of a bundle with
/// `length` columns and `rows` rows, whose values follow each other from `value` on.
template <class T, class Stage, class Work>
__device__ __forceinline__ void pass_through(const LocalIndex* column, const T* value, int begin, int end,
                                             int length, int rows, Stage& stage, Work work) {
  constexpr int chunk = Stage::chunk;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::uint64_t policy = streaming_policy();
  const auto start_copy = [&](int first, int buffer) {
#pragma unroll
    for (int at = lane; at < chunk; at += 32) {
      const int k = first + at;
      if (k >= end) break;
      copy_streaming(&stage.column[buffer][at], column + k, policy);
#pragma unroll
      for (int j = 0; j < Stage::rows; ++j) {
        if (j < rows)
          copy_streaming(&stage.value[buffer][j][at], value + static_cast<Offset>(j) * length + k, policy);
      }
    }
    close_copies();
  };
  start_copy(begin, 0);
  int buffer = 0;
  for (int first = begin; first < end; first += chunk, buffer ^= 1) {
    start_copy(first + chunk, buffer ^ 1);
    wait_for_copies<1>();
    __syncwarp();
    work(buffer, min(end - first, chunk));
    __syncwarp();
  }
  wait_for_copies<0>();
}

/// As `accumulate`, for the long rows that a whole warp shares, see pass_through. Group `share` of 32 / L takes
/// every (32 / L)-th column.
template <int U, int L, int R, int P, class T, class Columns, class PackType>
__device__ __forceinline__ void accumulate_by_warp(const LocalIndex* column, const T* value, int begin, int end,
                                                   int length, int rows, const Columns& columns,
                                                   WarpStage<T, R, L>& stage, PackType (&sums)[R][P]) {
  pass_through(column, value, begin, end, length, rows, stage, [&](int buffer, int count) {
    accumulate<U, 32 / L, ReadFrom::shared>(
        static_cast<int>(threadIdx.x) % 32 / L, count, columns, [&](int k) { return stage.column[buffer][k]; },
        [&](int k, int j) { return stage.value[buffer][j][k]; }, sums);
  });
}

template <class PackType, int R, int P>
__device__ __forceinline__ void set_zero(PackType (&sums)[R][P]) {
#pragma unroll
  for (int j = 0; j < R; ++j) {
#pragma unroll
    for (int i = 0; i < P; ++i) sums[j][i] = zero_pack<PackType>();
  }
}

}  // namespace block_eigs::cuda
