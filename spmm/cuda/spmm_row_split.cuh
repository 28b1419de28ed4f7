#pragma once

#include "spmm/cuda/async_copy.cuh"
#include "spmm/cuda/spmm_accumulate.cuh"

// Row-split: whole rows, here bundles of rows, go to groups of lanes. Yang, Buluç, Owens (2018), section 4.1.
namespace block_eigs::cuda {

/// Where the rows of a bundle lie among its values: `rows` rows of `length`. Slots past the last row repeat the
/// first one; their sums are not stored.
template <int R>
struct BundleShape {
  int length;
  int rows;
  int offset[R];

  template <class T>
  __device__ BundleShape(const RowBundles<T>& a, LocalIndex bundle, int columns) : length(columns), rows(1) {
    if constexpr (R > 1) rows = a.first_rows[bundle + 1] - a.first_rows[bundle];
#pragma unroll
    for (int j = 0; j < R; ++j) offset[j] = j < rows ? j * length : 0;
  }
};

template <class T, int R, int P, class Columns, class PackType>
__device__ __forceinline__ void store_bundle(const RowBundles<T>& a, LocalIndex bundle, int rows,
                                             const Columns& columns, const PackType (&sums)[R][P]) {
  const LocalIndex first = R == 1 ? bundle : a.first_rows[bundle];
#pragma unroll
  for (int j = 0; j < R; ++j) {
    if (j < rows) columns.store(a.target(first + j), sums[j]);
  }
}

/// For short rows. A block copies columns and values of `tile` bundles to shared memory, whence the L lanes of a
/// group read the same element at once; a group takes every (threads / L)-th bundle.
template <class T, int W, int L, int P, int R, int U, int Threads, int MinBlocks>
__global__ void __launch_bounds__(Threads, MinBlocks)
    staged_row_split(RowBundles<T> a, DenseOperands x, EmptyRows empty, int tile, int column_capacity) {
  using PackType = Pack<T, W>;
  constexpr int groups = Threads / L;
  extern __shared__ __align__(16) char shared[];
  LocalIndex* const column_tile = reinterpret_cast<LocalIndex*>(shared);
  T* const value_tile = reinterpret_cast<T*>(shared + column_capacity * sizeof(LocalIndex));
  const LaneColumns<T, W, L, P> columns(x, threadIdx.x % L);
  PackType sums[R][P];
  if (blockIdx.x >= gridDim.x - empty.blocks) {
    set_zero(sums);
    clear_empty_rows<L>(empty, gridDim.x - empty.blocks, columns, sums[0]);
    return;
  }
  const LocalIndex begin = static_cast<LocalIndex>(blockIdx.x) * tile;
  const LocalIndex end = min(begin + tile, a.count);
  const Offset first_column = a.column_offsets[begin];
  const Offset first_value = R == 1 ? first_column : a.value_offsets[begin];
  const int tile_columns = static_cast<int>(a.column_offsets[end] - first_column);
  const int tile_values = R == 1 ? tile_columns : static_cast<int>(a.value_offsets[end] - first_value);
  for (int k = threadIdx.x; k < tile_columns; k += Threads) {
    copy_async(column_tile + k, a.columns + first_column + k);
  }
  for (int k = threadIdx.x; k < tile_values; k += Threads) copy_async(value_tile + k, a.values + first_value + k);
  wait_for_copies();
  __syncthreads();
  for (LocalIndex bundle = begin + threadIdx.x / L; bundle < end; bundle += groups) {
    const int from = static_cast<int>(a.column_offsets[bundle] - first_column);
    const int length = static_cast<int>(a.column_offsets[bundle + 1] - first_column) - from;
    const BundleShape<R> shape(a, bundle, length);
    const LocalIndex* const column = column_tile + from;
    const T* const value = value_tile + (R == 1 ? from : static_cast<int>(a.value_offsets[bundle] - first_value));
    set_zero(sums);
    accumulate<U, 1>(0, length, columns, [&](int k) { return column[k]; },
                     [&](int k, int j) { return value[k + shape.offset[j]]; }, sums);
    store_bundle(a, bundle, shape.rows, columns, sums);
  }
}

/// For long rows and small matrices. Split groups of L lanes share the columns of a bundle, one in Split each, and
/// read columns and values from global memory; a block takes `tile` bundles.
template <class T, int W, int L, int P, int R, int Split, int U, int Threads, int MinBlocks>
__global__ void __launch_bounds__(Threads, MinBlocks)
    direct_row_split(RowBundles<T> a, DenseOperands x, EmptyRows empty, int tile) {
  using PackType = Pack<T, W>;
  constexpr int lanes = L * Split;
  const LaneColumns<T, W, L, P> columns(x, threadIdx.x % L);
  PackType sums[R][P];
  if (blockIdx.x >= gridDim.x - empty.blocks) {
    set_zero(sums);
    clear_empty_rows<L>(empty, gridDim.x - empty.blocks, columns, sums[0]);
    return;
  }
  const int share = static_cast<int>(threadIdx.x) % lanes / L;
  const LocalIndex begin = static_cast<LocalIndex>(blockIdx.x) * tile;
  const LocalIndex end = min(begin + tile, a.count);
  for (LocalIndex first = begin; first < end; first += Threads / lanes) {
    const LocalIndex bundle = first + threadIdx.x / lanes;
    const bool there = bundle < end;
    const Offset from = there ? a.column_offsets[bundle] : 0;
    const int length = there ? static_cast<int>(a.column_offsets[bundle + 1] - from) : 0;
    const BundleShape<R> shape(a, there ? bundle : 0, length);
    const LocalIndex* const column = a.columns + from;
    const T* const value = a.values + (R == 1 ? from : a.value_offsets[there ? bundle : 0]);
    set_zero(sums);
    accumulate<U, Split>(share, length, columns, [&](int k) { return __ldg(column + k); },
                         [&](int k, int j) { return __ldg(value + k + shape.offset[j]); }, sums);
    if constexpr (Split > 1) {
#pragma unroll
      for (int j = 0; j < R; ++j) {
#pragma unroll
        for (int i = 0; i < P; ++i) add_across_lanes<L, lanes>(sums[j][i]);
      }
    }
    if (there && share == 0) store_bundle(a, bundle, shape.rows, columns, sums);
  }
}

}  // namespace block_eigs::cuda
