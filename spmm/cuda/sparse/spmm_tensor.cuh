#pragma once

#include "spmm/cuda/dense/tensor_core.cuh"
#include "spmm/cuda/sparse/spmm_carry.cuh"

// Thick bundles: their products are small dense ones, for the tensor cores. A core of these takes every value of A
// and every element of B from one lane, where plain arithmetic has all lanes fetch all values of A: what shared
// memory hands out in a cycle was the limit. Floats are multiplied as doubles, exactly, and sums are kept in
// double.
namespace block_eigs::cuda {

/// Columns and values of a thick bundle on their way, as in WarpStage. Four places stay free behind every row, so
/// that the eight rows that are read at once lie in different banks.
template <class T>
struct alignas(16) TensorStage {
  static constexpr int rows = thick_bundle_rows_limit;
  static constexpr int chunk = 32;
  LocalIndex column[2][chunk];
  T value[2][rows][chunk + 4];
};

/// The sums of a thick bundle for 8 Q packs of a row of B, in a warp, as multiply_add has them. Lane 4 g + t loads
/// packs g, g + 8, ... of rows t and t + 4 of B, through columns of LaneColumns<T, W, 8, Q>.
template <class T, int W, int Q>
class TensorSums {
 public:
  using PackType = Pack<T, W>;
  static constexpr int packs = 8 * Q;
  static constexpr int record = thick_bundle_rows_limit * packs;

  __device__ void set_zero() {
#pragma unroll
    for (int i = 0; i < Q * W * 4; ++i) sums_[i / (4 * W)][i / 4 % W][i % 4] = 0.0;
  }

  /// Adds the products of the `count` columns that are in a buffer of the stage. Values of rows that a bundle does
  /// not have may be anything: no other row sees them.
  template <class Columns>
  __device__ __forceinline__ void add_columns(const TensorStage<T>& stage, int buffer, int count,
                                              const Columns& columns) {
    int k = 0;
    for (; k + step <= count; k += step) add_step<false>(stage, buffer, k, count, columns);
    if (k < count) add_step<true>(stage, buffer, k, count, columns);
  }

  /// Pack p of row j goes to to[j * packs + p], as in SliceSums.
  __device__ void put(PackType* to, int lane) const {
#pragma unroll
    for (int q = 0; q < Q; ++q) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        PackType pack;
#pragma unroll
        for (int w = 0; w < W; ++w) pack.element[w] = static_cast<T>(sums_[q][w][i]);
        to[(lane / 4 + i / 2 * 8) * packs + 8 * q + lane % 4 * 2 + i % 2] = pack;
      }
    }
  }

 private:
  /// Columns whose rows of B are on their way at once: eight packs a lane. Whole steps make a chunk.
  static constexpr int step = Q >= 4 ? 8 : 32 / Q;

  template <bool Partial, class Columns>
  __device__ __forceinline__ void add_step(const TensorStage<T>& stage, int buffer, int first, int count,
                                           const Columns& columns) {
    const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
    const auto there = [&](int u) { return !Partial || first + t + 4 * u < count; };
    PackType rows[step / 4][Q];
#pragma unroll
    for (int u = 0; u < step / 4; ++u) {
      if (there(u)) {
        columns.load(stage.column[buffer][first + t + 4 * u], rows[u]);
      } else {
#pragma unroll
        for (int q = 0; q < Q; ++q) rows[u][q] = zero_pack<PackType>();
      }
    }
#pragma unroll
    for (int u = 0; u < step / 4; u += 2) {
      double a[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int k = first + t + 4 * (u + i / 2);
        a[i] = there(u + i / 2) ? static_cast<double>(stage.value[buffer][g + 8 * (i % 2)][k]) : 0.0;
      }
#pragma unroll
      for (int q = 0; q < Q; ++q) {
#pragma unroll
        for (int w = 0; w < W; ++w) {
          const double b[2] = {static_cast<double>(rows[u][q].element[w]),
                               static_cast<double>(rows[u + 1][q].element[w])};
          multiply_add(sums_[q][w], a, b);
        }
      }
    }
  }

  double sums_[Q][W][4];
};

/// As accumulate_by_warp.
template <class T, int W, int Q, class Columns>
__device__ __forceinline__ void accumulate_by_tensors(const RowBundles<T>& a, const BundleSpan<2>& span, int begin,
                                                      int end, const Columns& columns, TensorStage<T>& stage,
                                                      TensorSums<T, W, Q>& sums) {
  pass_through(a.columns + span.column, a.values + span.value, begin, end, span.length, span.rows, stage,
               [&](int buffer, int count) { sums.add_columns(stage, buffer, count, columns); });
}

/// Stores the rows of a bundle whose sums are in `record`, by a warp. `columns` is that of lane % L.
template <class T, int L, class Columns, class PackType>
__device__ __forceinline__ void store_record(const RowBundles<T>& a, LocalIndex bundle, int rows,
                                             const Columns& columns, const PackType* record) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const LocalIndex first = a.first_rows[bundle];
  for (int j = lane / L; j < rows; j += 32 / L) {
    const PackType pack[1] = {record[j * L + lane % L]};
    columns.store(a.target(first + j), pack);
  }
}

/// For many thick bundles: a warp each.
template <class T, int W, int Q, int Threads, int MinBlocks, class Operands>
__global__ void __launch_bounds__(Threads, MinBlocks)
    tensor_row_split(RowBundles<T> a, Operands x, EmptyRows empty) {
  start_prefetch(x.prefetch);
  using Sums = TensorSums<T, W, Q>;
  using PackType = Pack<T, W>;
  constexpr int L = Sums::packs;
  union Room {  // first the stage is in use, then the record
    TensorStage<T> stage;
    PackType record[Sums::record];
    __device__ Room() {}
  };
  __shared__ Room rooms[Threads / 32];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const LaneColumns<T, W, L, 1, Operands> stored(x, lane % L);
  if (blockIdx.x >= gridDim.x - empty.blocks) {
    PackType zeros[1] = {zero_pack<PackType>()};
    clear_empty_rows<L>(empty, gridDim.x - empty.blocks, stored, zeros);
    return;
  }
  const LocalIndex bundle = static_cast<LocalIndex>(blockIdx.x) * (Threads / 32) + threadIdx.x / 32;
  if (bundle >= a.count) return;
  const LaneColumns<T, W, 8, Q, Operands> loaded(x, lane / 4);
  const BundleSpan<2> span(a, bundle);
  Room& room = rooms[threadIdx.x / 32];
  Sums sums;
  sums.set_zero();
  accumulate_by_tensors(a, span, 0, span.length, loaded, room.stage, sums);
  __syncwarp();
  sums.put(room.record, lane);
  __syncwarp();
  store_record<T, L>(a, bundle, span.rows, stored, room.record);
}

/// What the slices of tensor_merge leave behind. A tail lies where the slice's columns and values were staged.
template <class T, int W, int Q, int Slices>
struct TensorLeftover {
  static constexpr int rows = thick_bundle_rows_limit;
  static constexpr int record = rows * 8 * Q,
                       stage = static_cast<int>(sizeof(TensorStage<T>) / sizeof(Pack<T, W>));
  static constexpr int tail_room = record > stage ? record : stage;
  using Sums = SliceSums<T, W, 8 * Q, 1, rows, Slices, 32, tail_room>;
};

/// As merge_by_warps, for thick bundles.
template <class T, int W, int Q, int Threads, int MinBlocks, class Operands>
__global__ void __launch_bounds__(Threads, MinBlocks)
    tensor_merge(RowBundles<T> a, Operands x, EmptyRows empty, MergeTiles merge) {
  using PackType = Pack<T, W>;
  using Sums = TensorSums<T, W, Q>;
  constexpr int L = Sums::packs, slices = Threads / 32;
  using Columns = LaneColumns<T, W, L, 1, Operands>;
  using Leftover = TensorLeftover<T, W, Q, slices>;
  extern __shared__ __align__(16) char shared[];
  auto& leftover = *reinterpret_cast<typename Leftover::Sums*>(shared);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  auto& stage = *reinterpret_cast<TensorStage<T>*>(leftover.tails[warp]);
  const Columns stored(x, lane % L);
  if (blockIdx.x >= merge.tiles) {
    PackType zeros[1] = {zero_pack<PackType>()};
    clear_empty_rows<L>(empty, merge.tiles, stored, zeros);
    return;
  }
  const LaneColumns<T, W, 8, Q, Operands> loaded(x, lane / 4);
  const MergeTile tile = MergeTile::of_columns(merge, a.columns_total);
  const MergeSlice slice(merge.path, tile.begin + warp * merge.slice, tile.end, merge.slice);
  const Offset end = slice.begin + slice.length;
  LocalIndex bundle = slice.bundle;
  bool opens_inside = slice.opens_inside, ends_one = false;
  Sums sums;
  sums.set_zero();
  for (Offset at = slice.begin; at < end;) {
    const BundleSpan<2> span(a, bundle);
    const Offset bundle_end = span.column + span.length;
    accumulate_by_tensors(a, span, static_cast<int>(at - span.column),
                          static_cast<int>(min(end, bundle_end) - span.column), loaded, stage, sums);
    at = bundle_end;
    if (bundle_end > end) break;
    if (opens_inside) {
      sums.put(leftover.heads[warp], lane);
    } else {
      sums.put(leftover.tails[warp], lane);
      __syncwarp();
      store_record<T, L>(a, bundle, span.rows, stored, leftover.tails[warp]);
      __syncwarp();
    }
    opens_inside = false;
    ends_one = true;
    ++bundle;
    sums.set_zero();
  }
  sums.put(leftover.tails[warp], lane);  // pass_through has left the stage to all lanes
  leftover.note_ends(ends_one);
  __syncthreads();
  Fixup<T, W, L, 1, Leftover::rows, slices, 32, Columns, Leftover::tail_room> fixup(a, merge, stored, leftover,
                                                                                    tile);
  fixup.finish(slice, warp, lane);
}

}  // namespace block_eigs::cuda
