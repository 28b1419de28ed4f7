#pragma once

#include "spmm/cuda/spmm_operands.cuh"

namespace block_eigs::cuda {

/// One step of `accumulate` over U columns, of which those from `end` on do not count where `Partial`.
template <int U, int Step, bool Partial, int R, int P, class Columns, class PackType, class ColumnOf, class ValueOf>
__device__ __forceinline__ void accumulate_step(int k, int end, const Columns& columns, ColumnOf column,
                                                ValueOf value, PackType (&sums)[R][P]) {
  using T = decltype(value(0, 0));
  LocalIndex index[U];
  T factors[U][R];
  PackType rows[U][P];
  const auto there = [&](int u) { return !Partial || k + u * Step < end; };
#pragma unroll
  for (int u = 0; u < U; ++u) {
    if (there(u)) index[u] = column(k + u * Step);
  }
#pragma unroll
  for (int u = 0; u < U; ++u) {
#pragma unroll
    for (int j = 0; j < R; ++j) {
      if (there(u)) factors[u][j] = value(k + u * Step, j);
    }
  }
#pragma unroll
  for (int u = 0; u < U; ++u) {
    if (there(u)) columns.load(index[u], rows[u]);
  }
#pragma unroll
  for (int u = 0; u < U; ++u) {
    if (!there(u)) continue;
#pragma unroll
    for (int j = 0; j < R; ++j) {
#pragma unroll
      for (int i = 0; i < P; ++i) add_product(sums[j][i], factors[u][j], rows[u][i]);
    }
  }
}

/// The arithmetic of the row-wise kernels: sums[j] += sum over k = begin, begin + Step, ... < end of
/// value(k, j) * (row column(k) of B), for the R rows j of a bundle. U rows of B are on their way at once; what
/// is left over is done in one predicated step, so that a short row waits for memory once.
template <int U, int Step, int R, int P, class Columns, class PackType, class ColumnOf, class ValueOf>
__device__ __forceinline__ void accumulate(int begin, int end, const Columns& columns, ColumnOf column, ValueOf value,
                                           PackType (&sums)[R][P]) {
  int k = begin;
  for (; k + (U - 1) * Step < end; k += U * Step) {
    accumulate_step<U, Step, false>(k, end, columns, column, value, sums);
  }
  if constexpr (U > 1) {
    if (k < end) accumulate_step<U - 1, Step, true>(k, end, columns, column, value, sums);
  }
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
