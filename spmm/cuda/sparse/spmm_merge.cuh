#pragma once

#include "spmm/cuda/sparse/spmm_carry.cuh"

// Merge-based: equal numbers of nonzeros go to groups of lanes, wherever rows begin and end. Yang, Buluç, Owens
// (2018), section 4.2.
namespace block_eigs::cuda {

/// Writes rows of C one after the other; the number of the next row but one is fetched ahead.
template <class T, class Columns>
class RowWriter {
 public:
  __device__ RowWriter(const RowBundles<T>& a, const Columns& columns, LocalIndex row, bool active)
      : a_(a), columns_(columns), row_(row) {
    if (!active || a.targets == nullptr) return;
    now_ = a.targets[row];
    next_ = a.targets[min(row + 1, a.count - 1)];
  }

  __device__ void skip() { advance(); }
  template <class PackType, int P>
  __device__ void write(const PackType (&sums)[P]) {
    columns_.store(a_.targets == nullptr ? row_ : now_, sums);
    advance();
  }

 private:
  __device__ void advance() {
    ++row_;
    if (a_.targets == nullptr) return;
    now_ = next_;
    next_ = __ldg(a_.targets + min(row_ + 1, a_.count - 1));
  }

  const RowBundles<T>& a_;
  const Columns& columns_;
  LocalIndex row_;
  LocalIndex now_ = 0;
  LocalIndex next_ = 0;
};

/// For rows of any length, bundles of one. Every group of L lanes takes a slice of 8, 16, or a multiple of 32
/// nonzeros.
template <class T, int W, int L, int P, int U, int Threads, int MinBlocks, class Operands>
__global__ void __launch_bounds__(Threads, MinBlocks)
    merge_by_lanes(RowBundles<T> a, Operands x, EmptyRows empty, MergeTiles merge) {
  using PackType = Pack<T, W>;
  using Columns = LaneColumns<T, W, L, P, Operands>;
  constexpr int slices = Threads / L;
  using Sums = SliceSums<T, W, L, P, 1, slices>;
  extern __shared__ __align__(16) char shared[];
  Sums& leftover = *reinterpret_cast<Sums*>(shared);
  const int stride = merge.slice + 1;  // odd, so that groups read from different banks
  T* const value_tile = reinterpret_cast<T*>(shared + (sizeof(Sums) + 15) / 16 * 16);
  LocalIndex* const column_tile = reinterpret_cast<LocalIndex*>(value_tile + slices * stride);
  const int group = threadIdx.x / L, lane = threadIdx.x % L;
  const Columns columns(x, lane);
  PackType sums[1][P];
  set_zero(sums);
  if (blockIdx.x >= merge.tiles) {
    clear_empty_rows<L>(empty, merge.tiles, columns, sums[0]);
    return;
  }
  const int tile_columns = slices * merge.slice;
  const Offset tile_begin = static_cast<Offset>(blockIdx.x) * tile_columns;
  const int present = static_cast<int>(min(static_cast<Offset>(tile_columns), a.columns_total - tile_begin));
  const std::uint64_t policy = streaming_policy();
#pragma unroll 4
  for (int k = threadIdx.x; k < present; k += Threads) {
    const int place = k + (k >> merge.slice_bits);
    copy_streaming(column_tile + place, a.columns + tile_begin + k, policy);
    copy_streaming(value_tile + place, a.values + tile_begin + k, policy);
  }
  close_copies();
  const MergeSlice slice(merge.path, tile_begin + group * merge.slice, a.columns_total, merge.slice);
  Fixup<T, W, L, P, 1, slices, Columns> fixup(a, merge, columns, leftover, tile_columns);
  if (threadIdx.x == 0) fixup.find_crossings();
  if (lane == 0) leftover.ends_one[group] = slice.ends_one(merge.path);
  RowWriter<T, Columns> writer(a, columns, slice.bundle, slice.length > 0);
  bool opens_inside = slice.opens_inside;
  wait_for_copies<0>();
  __syncthreads();
  const LocalIndex* const column = column_tile + group * stride;
  const T* const value = value_tile + group * stride;
  std::uint32_t ends = 0;
  const auto end_column = [&] {
    if (ends & 1) {
      if (opens_inside) {
        Sums::put(leftover.heads[group], lane, sums);
        writer.skip();
        opens_inside = false;
      } else {
        writer.write(sums[0]);
      }
      set_zero(sums);
    }
    ends >>= 1;
  };
  int k = 0;
  for (; k + U <= slice.length; k += U) {
    if (k % 32 == 0) ends = slice.ends(merge.path, k);
    PackType rows[U][P];
#pragma unroll
    for (int u = 0; u < U; ++u) columns.load(column[k + u], rows[u]);
#pragma unroll
    for (int u = 0; u < U; ++u) {
      const T factor = value[k + u];
#pragma unroll
      for (int i = 0; i < P; ++i) add_product(sums[0][i], factor, rows[u][i]);
      end_column();
    }
  }
  for (; k < slice.length; ++k) {
    if (k % 32 == 0) ends = slice.ends(merge.path, k);
    PackType row[P];
    columns.load(column[k], row);
#pragma unroll
    for (int i = 0; i < P; ++i) add_product(sums[0][i], value[k], row[i]);
    end_column();
  }
  Sums::put(leftover.tails[group], lane, sums);
  __syncthreads();
  fixup.finish(slice, group, lane);
}

/// For long rows and bundles of several. Every warp takes a slice of a multiple of 32 columns, which its 32 / L
/// groups of lanes share bundle by bundle.
template <class T, int W, int L, int P, int R, int U, int Threads, int MinBlocks, class Operands>
__global__ void __launch_bounds__(Threads, MinBlocks)
    merge_by_warps(RowBundles<T> a, Operands x, EmptyRows empty, MergeTiles merge) {
  using PackType = Pack<T, W>;
  using Columns = LaneColumns<T, W, L, P, Operands>;
  constexpr int slices = Threads / 32;
  using Sums = SliceSums<T, W, L, P, R, slices>;
  extern __shared__ __align__(16) char shared[];
  Sums& leftover = *reinterpret_cast<Sums*>(shared);
  WarpStage<T, R, L>* const stages = reinterpret_cast<WarpStage<T, R, L>*>(shared + (sizeof(Sums) + 15) / 16 * 16);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const Columns columns(x, lane % L);
  PackType sums[R][P];
  set_zero(sums);
  if (blockIdx.x >= merge.tiles) {
    clear_empty_rows<L>(empty, merge.tiles, columns, sums[0]);
    return;
  }
  const int tile_columns = slices * merge.slice;
  const Offset tile_begin = static_cast<Offset>(blockIdx.x) * tile_columns;
  const MergeSlice slice(merge.path, tile_begin + warp * merge.slice, a.columns_total, merge.slice);
  Fixup<T, W, L, P, R, slices, Columns> fixup(a, merge, columns, leftover, tile_columns);
  if (threadIdx.x == 0) fixup.find_crossings();
  const Offset end = slice.begin + slice.length;
  LocalIndex bundle = slice.bundle;
  bool opens_inside = slice.opens_inside, ends_one = false;
  for (Offset at = slice.begin; at < end;) {
    const BundleSpan<R> span(a, bundle);
    const Offset bundle_end = span.column + span.length;
    int row_begin[R];
    span.find_rows(row_begin);
    accumulate_by_warp<U, L>(a.columns + span.column, a.values + span.value, static_cast<int>(at - span.column),
                             static_cast<int>(min(end, bundle_end) - span.column), row_begin, span.rows, columns,
                             stages[warp], sums);
    at = bundle_end;
    add_shares<L, 32>(sums);
    if (bundle_end > end) break;
    if (lane < L) {
      if (opens_inside) {
        Sums::put(leftover.heads[warp], lane, sums);
      } else {
        store_bundle(a, bundle, span.rows, columns, sums);
      }
    }
    opens_inside = false;
    ends_one = true;
    ++bundle;
    set_zero(sums);
  }
  if (lane < L) Sums::put(leftover.tails[warp], lane, sums);
  if (lane == 0) leftover.ends_one[warp] = ends_one;
  __syncthreads();
  fixup.finish(slice, warp, lane);
}

}  // namespace block_eigs::cuda
