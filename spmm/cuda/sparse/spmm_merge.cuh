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

/// Where elements of the slices of a tile are kept in shared memory: one place stays free after every slice, so
/// that groups of lanes read from different banks.
class SlicePlaces {
 public:
  __device__ explicit SlicePlaces(int slice) : slice_(slice), share_(((1u << bits) + slice - 1) / slice) {}

  /// Exact below 2^12 elements in slices of up to 2^9.
  __device__ int operator()(int k) const { return k + static_cast<int>(k * share_ >> bits); }
  __device__ int first(int slice_number) const { return slice_number * (slice_ + 1); }

 private:
  static constexpr int bits = 22;
  int slice_;
  unsigned share_;
};

/// For rows of any length, bundles of one. Every group of L lanes takes a slice of the nonzeros of a tile, which
/// are those of whole rows but for long ones: where no long row crosses the tile's ends no block waits for
/// another.
template <class T, int W, int L, int P, int U, int Threads, int MinBlocks, class Operands>
__global__ void __launch_bounds__(Threads, MinBlocks)
    merge_by_lanes(RowBundles<T> a, Operands x, EmptyRows empty, MergeTiles merge) {
  using PackType = Pack<T, W>;
  using Columns = LaneColumns<T, W, L, P, Operands>;
  constexpr int slices = Threads / L;
  using Sums = SliceSums<T, W, L, P, 1, slices, L>;
  extern __shared__ __align__(16) char shared[];
  Sums& leftover = *reinterpret_cast<Sums*>(shared);
  T* const value_tile = reinterpret_cast<T*>(shared + (sizeof(Sums) + 15) / 16 * 16);
  LocalIndex* const column_tile = reinterpret_cast<LocalIndex*>(value_tile + merge.places);
  const int group = threadIdx.x / L, lane = threadIdx.x % L;
  const Columns columns(x, lane);
  PackType sums[1][P];
  set_zero(sums);
  if (blockIdx.x >= merge.tiles) {
    clear_empty_rows<L>(empty, merge.tiles, columns, sums[0]);
    return;
  }
  const MergeTile tile = MergeTile::of_whole_bundles(merge, a.columns_total);
  const int present = static_cast<int>(tile.end - tile.begin);
  if (present == 0) return;  // all of a row that the tile before takes whole
  const int slice_columns = slice_length(present, slices, merge.slice);
  const SlicePlaces place(slice_columns);
  const std::uint64_t policy = streaming_policy();
#pragma unroll 4
  for (int k = threadIdx.x; k < present; k += Threads) {
    copy_streaming(column_tile + place(k), a.columns + tile.begin + k, policy);
    copy_streaming(value_tile + place(k), a.values + tile.begin + k, policy);
  }
  close_copies();
  const MergeSlice slice(merge.path, tile.begin + group * slice_columns, tile.end, slice_columns);
  Fixup<T, W, L, P, 1, slices, L, Columns> fixup(a, merge, columns, leftover, tile);
  if (threadIdx.x == 0) fixup.look_ahead();
  leftover.note_ends(slice.ends_one(merge.path));
  RowWriter<T, Columns> writer(a, columns, slice.bundle, slice.length > 0);
  bool opens_inside = slice.opens_inside;
  wait_for_copies<0>();
  __syncthreads();
  const LocalIndex* const column = column_tile + place.first(group);
  const T* const value = value_tile + place.first(group);
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
  using Sums = SliceSums<T, W, L, P, R, slices, 32>;
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
  const MergeTile tile = MergeTile::of_columns(merge, a.columns_total);
  const MergeSlice slice(merge.path, tile.begin + warp * merge.slice, tile.end, merge.slice);
  const Offset end = slice.begin + slice.length;
  LocalIndex bundle = slice.bundle;
  bool opens_inside = slice.opens_inside, ends_one = false;
  for (Offset at = slice.begin; at < end;) {
    const BundleSpan<R> span(a, bundle);
    const Offset bundle_end = span.column + span.length;
    accumulate_by_warp<U, L>(a.columns + span.column, a.values + span.value, static_cast<int>(at - span.column),
                             static_cast<int>(min(end, bundle_end) - span.column), span.length, span.rows, columns,
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
  leftover.note_ends(ends_one);
  __syncthreads();
  Fixup<T, W, L, P, R, slices, 32, Columns> fixup(a, merge, columns, leftover, tile);
  fixup.finish(slice, warp, lane);
}

}  // namespace block_eigs::cuda
