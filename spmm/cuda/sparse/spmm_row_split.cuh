#pragma once

#include "spmm/cuda/sparse/spmm_accumulate.cuh"

// Row-split: whole rows, here bundles of rows, go to groups of lanes. Yang, Buluç, Owens (2018), section 4.1.
namespace block_eigs::cuda {

/// Where row j of a bundle begins among its values. Slots past the last row repeat the first one; their sums are
/// not stored.
template <int R>
__device__ __forceinline__ void find_rows(int length, int rows, int (&begin)[R]) {
#pragma unroll
  for (int j = 0; j < R; ++j) begin[j] = j < rows ? j * length : 0;
}

/// One bundle: its columns from `column` on, its values from `value` on, `rows` rows of `length` of them.
template <int R>
struct BundleSpan {
  Offset column = 0;
  Offset value = 0;
  int length = 0;
  int rows = 1;

  BundleSpan() = default;
  template <class T>
  __device__ BundleSpan(const RowBundles<T>& a, LocalIndex bundle) {
    column = a.column_offsets[bundle];
    length = static_cast<int>(a.column_offsets[bundle + 1] - column);
    value = R == 1 ? column : a.value_offsets[bundle];
    if constexpr (R > 1) rows = a.first_rows[bundle + 1] - a.first_rows[bundle];
  }

  __device__ void find_rows(int (&begin)[R]) const { cuda::find_rows(length, rows, begin); }
};

/// Adds up what the groups of L lanes among `Lanes` have summed; all of them get the result.
template <int L, int Lanes, class PackType, int R, int P>
__device__ __forceinline__ void add_shares(PackType (&sums)[R][P]) {
  if constexpr (Lanes > L) {
#pragma unroll
    for (int i = 0; i < R * P; ++i) add_across_lanes<L, Lanes>(sums[i / P][i % P]);
  }
}

template <class T, int R, int P, class Columns, class PackType>
__device__ __forceinline__ void store_bundle(const RowBundles<T>& a, LocalIndex bundle, int rows,
                                             const Columns& columns, const PackType (&sums)[R][P]) {
  const LocalIndex first = R == 1 ? bundle : a.first_rows[bundle];
#pragma unroll
  for (int j = 0; j < R; ++j) {
    if (j < rows) columns.store(a.target(first + j), sums[j]);
  }
}

/// Where elements of A are kept in shared memory. Where a row of B takes one or two lanes, after every 128 bytes
/// one place stays free, so that groups whose rows begin at multiples of 64 or 128 bytes, as rows of 8 or 16 do,
/// read from different banks. Where it takes more there are too few groups in a warp for that to matter, and
/// elements are copied in pieces of 16 bytes, whose first one may hold some that come before.
template <class X, int L>
struct StagedElements {
  static constexpr int size = static_cast<int>(sizeof(X));
  static constexpr int run = 128 / size;
  static constexpr int piece = 16 / size;
  static constexpr bool skewed = L <= 2;
  __host__ __device__ static constexpr Offset room(Offset elements) {
    return skewed ? elements + elements / run + 1 : elements + piece - 1;
  }
  __device__ __forceinline__ static int place(int k) {
    return skewed ? k + static_cast<int>(static_cast<unsigned>(k) / run) : k;
  }

  /// Starts the copies of `count` elements by all of a block; the first one's number in the tile.
  template <int Threads>
  __device__ __forceinline__ static int start_copies(X* tile, const X* from, int count, std::uint64_t policy) {
    if constexpr (skewed) {
#pragma unroll 4
      for (int k = threadIdx.x; k < count; k += Threads) copy_streaming(tile + place(k), from + k, policy);
      return 0;
    }
    // Sizes that are not known when this is compiled would do without the second loop, but ptxas of CUDA 13.0
    // makes illegal instructions of copies with both a size and a cache hint.
    const int before = static_cast<int>(reinterpret_cast<std::uintptr_t>(from) % 16) / size;
    const X* const whole = from - before;
    const int end = before + count;
    const int left_over = end % piece;
#pragma unroll 4
    for (int k = static_cast<int>(threadIdx.x) * piece; k < end - left_over; k += Threads * piece)
      copy_streaming_piece(tile + k, whole + k, policy);
    if (static_cast<int>(threadIdx.x) < left_over) {
      const int k = end - left_over + static_cast<int>(threadIdx.x);
      copy_streaming(tile + k, whole + k, policy);
    }
    return before;
  }
};

/// A bundle of a tile: where its columns and values are, in low words, whose differences within a tile are those
/// of the offsets. Half the registers of a BundleSpan.
template <int R>
struct TileSpan {
  std::uint32_t column = 0;
  std::uint32_t column_end = 0;
  std::uint32_t value = 0;
  int rows = 1;

  TileSpan() = default;
  template <class T>
  __device__ TileSpan(const RowBundles<T>& a, LocalIndex bundle)
      : column(low_word(a.column_offsets + bundle)), column_end(low_word(a.column_offsets + bundle + 1)) {
    if constexpr (R > 1) {
      value = low_word(a.value_offsets + bundle);
      rows = a.first_rows[bundle + 1] - a.first_rows[bundle];
    }
  }
  __device__ int length() const { return static_cast<int>(column_end - column); }

 private:
  __device__ static std::uint32_t low_word(const Offset* offset) {
    return __ldg(reinterpret_cast<const std::uint32_t*>(offset));
  }
};

/// For short rows. A block copies columns and values of `tile` bundles to shared memory, whence the L lanes of a
/// group read the same element at once; a group takes every (threads / L)-th bundle.
template <class T, int W, int L, int P, int R, int U, int Threads, int MinBlocks, class Operands>
__global__ void __launch_bounds__(Threads, MinBlocks)
    staged_row_split(RowBundles<T> a, Operands x, EmptyRows empty, int tile, int column_capacity) {
  start_prefetch(x.prefetch);
  using PackType = Pack<T, W>;
  using StagedColumns = StagedElements<LocalIndex, L>;
  using StagedValues = StagedElements<T, L>;
  constexpr int groups = Threads / L;
  extern __shared__ __align__(16) char shared[];
  LocalIndex* const column_tile = reinterpret_cast<LocalIndex*>(shared);
  T* const value_tile = reinterpret_cast<T*>(shared + column_capacity * sizeof(LocalIndex));
  const LaneColumns<T, W, L, P, Operands> columns(x, threadIdx.x % L);
  const bool in_group = Threads % L == 0 || threadIdx.x < groups * L;
  PackType sums[R][P];
  if (blockIdx.x >= gridDim.x - empty.blocks) {
    set_zero(sums);
    if (in_group) clear_empty_rows<L>(empty, gridDim.x - empty.blocks, columns, sums[0]);
    return;
  }
  const LocalIndex begin = static_cast<LocalIndex>(blockIdx.x) * tile;
  const LocalIndex end = min(begin + tile, a.count);
  const Offset first_column = a.column_offsets[begin];
  const Offset first_value = R == 1 ? first_column : a.value_offsets[begin];
  const int tile_columns = static_cast<int>(a.column_offsets[end] - first_column);
  const int tile_values = R == 1 ? tile_columns : static_cast<int>(a.value_offsets[end] - first_value);
  const std::uint64_t policy = streaming_policy();
  const int columns_before =
      StagedColumns::template start_copies<Threads>(column_tile, a.columns + first_column, tile_columns, policy);
  const int values_before =
      StagedValues::template start_copies<Threads>(value_tile, a.values + first_value, tile_values, policy);
  close_copies();
  LocalIndex bundle = in_group ? begin + static_cast<LocalIndex>(threadIdx.x) / L : end;
  constexpr bool ahead = Threads * MinBlocks < 1536;  // where there are more threads, others work while one waits
  TileSpan<R> next;
  if (ahead && bundle < end) next = TileSpan<R>(a, bundle);
  const std::uint32_t column_base = static_cast<std::uint32_t>(first_column) - columns_before;
  const std::uint32_t value_base = static_cast<std::uint32_t>(first_value) - values_before;
  wait_for_copies<0>();
  __syncthreads();
  for (; bundle < end; bundle += groups) {
    const TileSpan<R> now = ahead ? next : TileSpan<R>(a, bundle);
    if (ahead && bundle + groups < end) next = TileSpan<R>(a, bundle + groups);
    const int column = static_cast<int>(now.column - column_base);
    const int value = static_cast<int>((R == 1 ? now.column : now.value) - value_base);
    const int length = now.length();
    int row_begin[R];
    find_rows(length, now.rows, row_begin);
    set_zero(sums);
    accumulate<U, 1, ReadFrom::shared>(
        0, length, columns, [&](int k) { return column_tile[StagedColumns::place(column + k)]; },
        [&](int k, int j) { return value_tile[StagedValues::place(value + k + row_begin[j])]; }, sums);
    store_bundle(a, bundle, now.rows, columns, sums);
  }
}

/// For rows of medium length. Split groups of L lanes share the columns of a bundle, one in Split each, and read
/// columns and values from global memory; a block takes `tile` bundles.
template <class T, int W, int L, int P, int R, int Split, int U, int Threads, int MinBlocks, class Operands>
__global__ void __launch_bounds__(Threads, MinBlocks)
    direct_row_split(RowBundles<T> a, Operands x, EmptyRows empty, int tile) {
  start_prefetch(x.prefetch);
  using PackType = Pack<T, W>;
  constexpr int lanes = L * Split;
  const LaneColumns<T, W, L, P, Operands> columns(x, threadIdx.x % L);
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
    BundleSpan<R> span;
    if (there) span = BundleSpan<R>(a, bundle);
    const LocalIndex* const column = a.columns + span.column;
    const T* const value = a.values + span.value;
    int row_begin[R];
    span.find_rows(row_begin);
    set_zero(sums);
    accumulate<U, Split, ReadFrom::global>(
        share, span.length, columns, [&](int k) { return __ldg(column + k); },
        [&](int k, int j) { return __ldg(value + k + row_begin[j]); }, sums);
    add_shares<L, lanes>(sums);
    if (there && share == 0) store_bundle(a, bundle, span.rows, columns, sums);
  }
}

/// Four neighbouring elements of A at a multiple of 16 bytes.
template <class X>
struct alignas(16) Four {
  X element[4];
};

template <class X>
__device__ __forceinline__ Four<X> load_four(const X* from) {
  Four<X> result;
  const int4* const pieces = reinterpret_cast<const int4*>(from);
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(X)) / 4; ++i)
    reinterpret_cast<int4*>(&result)[i] = __ldg(pieces + i);
  return result;
}

/// For many long rows of about the same length: a row a group of L lanes. They move on through the columns side by
/// side and find rows of B that others have asked for in the caches. Columns and values come four at a time,
/// because what L1 hands out in a cycle is the limit; both arrays begin at multiples of 16 bytes.
template <class T, int W, int L, int P, int Threads, int MinBlocks, class Operands>
__global__ void __launch_bounds__(Threads, MinBlocks)
    even_row_split(RowBundles<T> a, Operands x, EmptyRows empty) {
  start_prefetch(x.prefetch);
  using PackType = Pack<T, W>;
  const LaneColumns<T, W, L, P, Operands> columns(x, threadIdx.x % L);
  PackType sums[1][P];
  set_zero(sums);
  if (blockIdx.x >= gridDim.x - empty.blocks) {
    clear_empty_rows<L>(empty, gridDim.x - empty.blocks, columns, sums[0]);
    return;
  }
  const LocalIndex row = static_cast<LocalIndex>(blockIdx.x) * (Threads / L) + threadIdx.x / L;
  if (row >= a.count) return;
  Offset k = a.column_offsets[row];
  const Offset end = a.column_offsets[row + 1];
  const auto add_one = [&] {
    PackType packs[P];
    columns.load(__ldg(a.columns + k), packs);
    const T factor = __ldg(a.values + k);
#pragma unroll
    for (int i = 0; i < P; ++i) add_product(sums[0][i], factor, packs[i]);
  };
  for (const Offset whole = min((k + 3) / 4 * 4, end); k < whole; ++k) add_one();
  for (; k + 4 <= end; k += 4) {
    const Four<LocalIndex> column = load_four(a.columns + k);
    const Four<T> value = load_four(a.values + k);
    PackType packs[4][P];
#pragma unroll
    for (int u = 0; u < 4; ++u) columns.load(column.element[u], packs[u]);
#pragma unroll
    for (int u = 0; u < 4; ++u) {
#pragma unroll
      for (int i = 0; i < P; ++i) add_product(sums[0][i], value.element[u], packs[u][i]);
    }
  }
  for (; k < end; ++k) add_one();
  columns.store(a.target(row), sums[0]);
}

/// For long rows: a warp a bundle, columns and values staged ahead.
template <class T, int W, int L, int P, int R, int U, int Threads, int MinBlocks, class Operands>
__global__ void __launch_bounds__(Threads, MinBlocks)
    warp_row_split(RowBundles<T> a, Operands x, EmptyRows empty) {
  start_prefetch(x.prefetch);
  using PackType = Pack<T, W>;
  __shared__ WarpStage<T, R, L> stages[Threads / 32];
  const LaneColumns<T, W, L, P, Operands> columns(x, threadIdx.x % L);
  PackType sums[R][P];
  set_zero(sums);
  if (blockIdx.x >= gridDim.x - empty.blocks) {
    clear_empty_rows<L>(empty, gridDim.x - empty.blocks, columns, sums[0]);
    return;
  }
  const LocalIndex bundle = static_cast<LocalIndex>(blockIdx.x) * (Threads / 32) + threadIdx.x / 32;
  if (bundle >= a.count) return;
  const BundleSpan<R> span(a, bundle);
  accumulate_by_warp<U, L>(a.columns + span.column, a.values + span.value, 0, span.length, span.length, span.rows,
                           columns, stages[threadIdx.x / 32], sums);
  add_shares<L, 32>(sums);
  if (threadIdx.x % 32 < L) store_bundle(a, bundle, span.rows, columns, sums);
}

/// For small matrices, where time is waiting for memory: a warp a row, whose lanes fetch 32 columns and values at
/// once and pass them on by shuffles, as in the paper.
template <class T, int W, int L, int P, int U, int Threads, int MinBlocks, class Operands>
__global__ void __launch_bounds__(Threads, MinBlocks)
    shuffle_row_split(RowBundles<T> a, Operands x, EmptyRows empty) {
  start_prefetch(x.prefetch);
  using PackType = Pack<T, W>;
  constexpr int split = 32 / L;
  const int lane = static_cast<int>(threadIdx.x) % 32, share = lane / L;
  const LaneColumns<T, W, L, P, Operands> columns(x, lane % L);
  PackType sums[1][P];
  set_zero(sums);
  if (blockIdx.x >= gridDim.x - empty.blocks) {
    clear_empty_rows<L>(empty, gridDim.x - empty.blocks, columns, sums[0]);
    return;
  }
  const LocalIndex row = static_cast<LocalIndex>(blockIdx.x) * (Threads / 32) + threadIdx.x / 32;
  if (row >= a.count) return;
  const BundleSpan<1> span(a, row);
  const LocalIndex* const column = a.columns + span.column;
  const T* const value = a.values + span.column;
  LocalIndex next_column = lane < span.length ? __ldg(column + lane) : 0;
  T next_value = lane < span.length ? __ldg(value + lane) : T{0};
  for (int first = 0; first < span.length; first += 32) {
    const LocalIndex my_column = next_column;
    const T my_value = next_value;
    if (first + 32 + lane < span.length) {
      next_column = __ldg(column + first + 32 + lane);
      next_value = __ldg(value + first + 32 + lane);
    }
    const int present = min(span.length - first, 32);
    for (int k = 0; k < present; k += U * split) {
      LocalIndex index[U];
      T factor[U];
      PackType rows[U][P];
#pragma unroll
      for (int u = 0; u < U; ++u) {
        index[u] = __shfl_sync(~0u, my_column, k + share + u * split);
        factor[u] = __shfl_sync(~0u, my_value, k + share + u * split);
      }
#pragma unroll
      for (int u = 0; u < U; ++u) {
        if (k + share + u * split < present) columns.load(index[u], rows[u]);
      }
#pragma unroll
      for (int u = 0; u < U; ++u) {
        if (k + share + u * split >= present) continue;
#pragma unroll
        for (int i = 0; i < P; ++i) add_product(sums[0][i], factor[u], rows[u][i]);
      }
    }
  }
  add_shares<L, 32>(sums);
  if (share == 0) columns.store(a.target(row), sums[0]);
}

}  // namespace block_eigs::cuda
