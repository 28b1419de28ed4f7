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

/// Strips [begin, end) in the shared memory of a block.
template <class T>
struct StripTile {
  LocalIndex begin;
  LocalIndex end;
  Offset first_column;
  Offset first_value;
  LocalIndex* columns;
  Sources* sources;
  T* values;
};

/// Starts the copies of `tile` strips from `begin` on, by all of a block; `shared` has room for column_capacity
/// columns.
template <int Threads, class T>
__device__ __forceinline__ StripTile<T> start_copies(const StripsView<T>& a, LocalIndex begin, int tile,
                                                     int column_capacity, char* shared) {
  StripTile<T> copy;
  copy.sources = reinterpret_cast<Sources*>(shared);
  copy.columns = reinterpret_cast<LocalIndex*>(copy.sources + column_capacity);
  copy.values = reinterpret_cast<T*>(copy.columns + column_capacity);
  copy.begin = begin;
  copy.end = min(begin + tile, a.count);
  copy.first_column = a.offsets[copy.begin];
  copy.first_value = a.row_offsets[static_cast<Offset>(copy.begin) * strip_height];
  const int tile_columns = static_cast<int>(a.offsets[copy.end] - copy.first_column);
  const Offset last_row = min(static_cast<Offset>(copy.end) * strip_height, static_cast<Offset>(a.rows));
  const int tile_values = static_cast<int>(a.row_offsets[last_row] - copy.first_value);
  const std::uint64_t policy = streaming_policy();
#pragma unroll 4
  for (int k = threadIdx.x; k < tile_columns; k += Threads) {
    copy_streaming(copy.columns + k, a.columns + copy.first_column + k, policy);
    copy_streaming(copy.sources + k, a.sources + copy.first_column + k, policy);
  }
#pragma unroll 4
  for (int k = threadIdx.x; k < tile_values; k += Threads) {
    copy_streaming(copy.values + k, a.values + copy.first_value + k, policy);
  }
  close_copies();
  return copy;
}

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
  const LaneColumns<T, W, L, P, Operands> columns(x, threadIdx.x % L);
  PackType sums[R][P];
  if (blockIdx.x >= gridDim.x - empty.blocks) {
    set_zero(sums);
    clear_empty_rows<L>(empty, gridDim.x - empty.blocks, columns, sums[0]);
    return;
  }
  const StripTile<T> copy =
      start_copies<Threads>(a, static_cast<LocalIndex>(blockIdx.x) * tile, tile, column_capacity, shared);
  const int share = static_cast<int>(threadIdx.x) % lanes / L;
  LocalIndex strip = copy.begin + static_cast<LocalIndex>(threadIdx.x) / lanes;
  int at = 0, length = 0, base = 0;
  const auto find = [&] {
    length = 0;
    if (strip >= copy.end) return;
    at = static_cast<int>(a.offsets[strip] - copy.first_column);
    length = static_cast<int>(a.offsets[strip + 1] - copy.first_column) - at;
    base = static_cast<int>(a.row_offsets[static_cast<Offset>(strip) * R] - copy.first_value);
  };
  find();
  wait_for_copies<0>();
  __syncthreads();
  for (LocalIndex first = copy.begin; first < copy.end; first += Threads / lanes) {
    const LocalIndex* const column = copy.columns + at;
    const Sources* const source = copy.sources + at;
    const T* const value = copy.values + base;
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
