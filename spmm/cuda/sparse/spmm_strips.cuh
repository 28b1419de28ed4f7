#pragma once

#include "spmm/cuda/sparse/spmm_row_split.cuh"
#include "spmm/cuda/sparse/spmm_strips.hpp"

namespace block_eigs::cuda {

/// Where the values of a strip's rows in one column are, see Strips.
struct alignas(8) Sources {
  std::uint16_t of[strip_height];
};

/// A as the kernel for strips sees it, see Strips.
template <class T>
struct StripsView {
  LocalIndex count = 0;
  LocalIndex rows = 0;
  const Offset* row_offsets = nullptr;  ///< of the rows with nonzeros
  const Offset* offsets = nullptr;
  const LocalIndex* columns = nullptr;
  const Sources* sources = nullptr;
  const LocalIndex* targets = nullptr;  ///< as in RowBundles
  const T* values = nullptr;

  __device__ LocalIndex target(LocalIndex row) const { return targets == nullptr ? row : __ldg(targets + row); }
};

/// A block takes `tile` strips, of which it copies all to shared memory; then Split groups of L lanes share the
/// columns of each strip.
template <class T, int W, int L, int P, int Split, int U, int Threads, int MinBlocks, class Operands>
__global__ void __launch_bounds__(Threads, MinBlocks)
    row_split_by_strips(StripsView<T> a, Operands x, EmptyRows empty, int tile, int column_capacity) {
  start_prefetch(x.prefetch);
  using PackType = Pack<T, W>;
  constexpr int R = strip_height;
  constexpr int lanes = L * Split;
  extern __shared__ __align__(16) char shared[];
  Sources* const source_tile = reinterpret_cast<Sources*>(shared);
  LocalIndex* const column_tile = reinterpret_cast<LocalIndex*>(source_tile + column_capacity);
  T* const value_tile = reinterpret_cast<T*>(column_tile + column_capacity);
  const LaneColumns<T, W, L, P, Operands> columns(x, threadIdx.x % L);
  PackType sums[R][P];
  if (blockIdx.x >= gridDim.x - empty.blocks) {
    set_zero(sums);
    clear_empty_rows<L>(empty, gridDim.x - empty.blocks, columns, sums[0]);
    return;
  }
  const LocalIndex begin = static_cast<LocalIndex>(blockIdx.x) * tile;
  const LocalIndex end = min(begin + tile, a.count);
  const Offset first_column = a.offsets[begin];
  const Offset first_value = a.row_offsets[static_cast<Offset>(begin) * R];
  const int tile_columns = static_cast<int>(a.offsets[end] - first_column);
  const Offset last_row = min(static_cast<Offset>(end) * R, static_cast<Offset>(a.rows));
  const int tile_values = static_cast<int>(a.row_offsets[last_row] - first_value);
  const std::uint64_t policy = streaming_policy();
#pragma unroll 4
  for (int k = threadIdx.x; k < tile_columns; k += Threads) {
    copy_streaming(column_tile + k, a.columns + first_column + k, policy);
    copy_streaming(source_tile + k, a.sources + first_column + k, policy);
  }
#pragma unroll 4
  for (int k = threadIdx.x; k < tile_values; k += Threads) {
    copy_streaming(value_tile + k, a.values + first_value + k, policy);
  }
  close_copies();
  const int share = static_cast<int>(threadIdx.x) % lanes / L;
  LocalIndex strip = begin + static_cast<LocalIndex>(threadIdx.x) / lanes;
  int at = 0, length = 0, base = 0;
  const auto find = [&] {
    length = 0;
    if (strip >= end) return;
    at = static_cast<int>(a.offsets[strip] - first_column);
    length = static_cast<int>(a.offsets[strip + 1] - first_column) - at;
    base = static_cast<int>(a.row_offsets[static_cast<Offset>(strip) * R] - first_value);
  };
  find();
  wait_for_copies<0>();
  __syncthreads();
  for (LocalIndex first = begin; first < end; first += Threads / lanes) {
    const LocalIndex* const column = column_tile + at;
    const Sources* const source = source_tile + at;
    const T* const value = value_tile + base;
    const auto add_column = [&](int k, const PackType(&row)[P]) {
      const Sources from = source[k];
#pragma unroll
      for (int j = 0; j < R; ++j) {
        if (from.of[j] == no_source) continue;
        const T factor = value[from.of[j]];
#pragma unroll
        for (int i = 0; i < P; ++i) add_product(sums[j][i], factor, row[i]);
      }
    };
    set_zero(sums);
    int k = share;
    for (; k + (U - 1) * Split < length; k += U * Split) {
      PackType rows[U][P];
#pragma unroll
      for (int u = 0; u < U; ++u) columns.load(column[k + u * Split], rows[u]);
#pragma unroll
      for (int u = 0; u < U; ++u) add_column(k + u * Split, rows[u]);
    }
    for (; k < length; k += Split) {
      PackType row[P];
      columns.load(column[k], row);
      add_column(k, row);
    }
    add_shares<L, lanes>(sums);
    if (share == 0 && length > 0) {
      const LocalIndex first_row = strip * R;
#pragma unroll
      for (int j = 0; j < R; ++j) {
        if (first_row + j < a.rows) columns.store(a.target(first_row + j), sums[j]);
      }
    }
    strip += Threads / lanes;
    find();
  }
}

}  // namespace block_eigs::cuda
