#pragma once

#include "spmm/cuda/sparse/spmm_merge_path.cuh"
#include "spmm/cuda/sparse/spmm_row_split.cuh"

// The fix-up of the merge-based algorithm: bundles that cross slices or blocks are added up in order, without
// atomics on C. Yang, Buluç, Owens (2018), section 4.2; here the block that arrives last at a bundle adds up its
// carries, so that no second kernel is needed and the order of the sum does not depend on who is last.
namespace block_eigs::cuda {

/// Tiles that a bundle which crosses blocks reaches from and to.
struct Crossing {
  unsigned first_tile = 0;
  unsigned last_tile = 0;
  LocalIndex bundle = 0;
};

/// What the slices of a block leave behind in shared memory. Records hold R * P packs a lane.
template <class T, int W, int L, int P, int R, int Slices>
struct SliceSums {
  using PackType = Pack<T, W>;
  static constexpr int record = R * P * L;

  PackType heads[Slices][record];  ///< sums that close a bundle which began before the slice
  PackType tails[Slices][record];  ///< sums of a bundle that goes on behind the slice
  bool ends_one[Slices];           ///< some bundle ends in the slice
  Crossing crossings[2];           ///< bundle that crosses the beginning of the block's tile, and its end
  bool is_last[2];

  __device__ static void put(PackType (&to)[record], int lane, const PackType (&sums)[R][P]) {
#pragma unroll
    for (int i = 0; i < R * P; ++i) to[i * L + lane] = sums[i / P][i % P];
  }
  __device__ static void add_to(PackType (&sums)[R][P], const PackType (&from)[record], int lane) {
#pragma unroll
    for (int i = 0; i < R * P; ++i) add(sums[i / P][i % P], from[i * L + lane]);
  }
  /// Adds the tails of the slices before `slice` back to where the bundle begins; false where that is the tile's
  /// first column or before it.
  __device__ bool add_tails_before(int slice, int lane, PackType (&sums)[R][P]) const {
    for (int before = slice - 1; before >= 0; --before) {
      add_to(sums, tails[before], lane);
      if (ends_one[before]) return true;
    }
    return false;
  }
};

template <class T, int W, int L, int P, int R, int Slices, class Columns>
class Fixup {
 public:
  using Sums = SliceSums<T, W, L, P, R, Slices>;
  using PackType = Pack<T, W>;

  __device__ Fixup(const RowBundles<T>& a, const MergeTiles& merge, const Columns& columns, Sums& shared,
                   int tile_columns)
      : a_(a), merge_(merge), columns_(columns), shared_(shared), tile_columns_(tile_columns) {}

  /// To be called by one thread some time before the first __syncthreads(): looks up what crosses the tile's ends.
  __device__ void find_crossings() {
    const Offset begin = static_cast<Offset>(blockIdx.x) * tile_columns_;
    const Offset end = min(begin + tile_columns_, a_.columns_total);
    shared_.crossings[0] = crossing_of(MergeSlice::bundle_of(merge_.path, begin));
    shared_.crossings[1] = crossing_of(MergeSlice::bundle_of(merge_.path, end - 1));
  }

  /// After a __syncthreads() behind the last put(). All threads of the block call; `lane` is below L in the lanes
  /// that hold the sums of their slice, at least L otherwise.
  __device__ void finish(const MergeSlice& slice, int number, int lane) {
    const Offset begin = static_cast<Offset>(blockIdx.x) * tile_columns_;
    const bool crosses_begin = tile_begins_inside();
    const Offset end = min(begin + tile_columns_, a_.columns_total);
    const bool crosses_end = !MergeSlice::ends_bundle(merge_.path, end - 1);
    const bool is_one = crosses_begin && crosses_end && shared_.crossings[0].bundle == shared_.crossings[1].bundle;
    if (lane < L && slice.length > 0) {
      if (slice.opens_inside && shared_.ends_one[number]) close_head(slice.bundle, number, lane);
      if (slice.begin + slice.length == end && crosses_end) carry_tail(is_one, number, lane);
    }
    if (!crosses_begin && !crosses_end) return;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      shared_.is_last[0] = crosses_begin && arrives_last(shared_.crossings[0]);
      shared_.is_last[1] = crosses_end && !is_one && arrives_last(shared_.crossings[1]);
    }
    __syncthreads();
    if (shared_.is_last[0]) add_carries(shared_.crossings[0]);
    if (shared_.is_last[1]) add_carries(shared_.crossings[1]);
  }

 private:
  __device__ Crossing crossing_of(LocalIndex bundle) const {
    Crossing result;
    result.first_tile = static_cast<unsigned>(a_.column_offsets[bundle] / tile_columns_);
    result.last_tile = static_cast<unsigned>((a_.column_offsets[bundle + 1] - 1) / tile_columns_);
    result.bundle = bundle;
    return result;
  }

  __device__ int rows_of(LocalIndex bundle) const {
    return R == 1 ? 1 : a_.first_rows[bundle + 1] - a_.first_rows[bundle];
  }

  /// Record 0 of a tile belongs to the bundle that crosses its beginning, record 1 to one that begins inside.
  __device__ PackType* carry(unsigned tile, int which) const {
    const std::size_t number = (static_cast<std::size_t>(blockIdx.y) * merge_.tiles + tile) * 2 + which;
    return reinterpret_cast<PackType*>(merge_.carries) + number * Sums::record;
  }

  __device__ void put_carry(int which, int lane, const PackType (&sums)[R][P]) const {
    PackType* const to = carry(blockIdx.x, which);
#pragma unroll
    for (int i = 0; i < R * P; ++i) to[i * L + lane] = sums[i / P][i % P];
  }

  __device__ void close_head(LocalIndex bundle, int number, int lane) {
    PackType sums[R][P];
    set_zero(sums);
    Sums::add_to(sums, shared_.heads[number], lane);
    if (!shared_.add_tails_before(number, lane, sums) && tile_begins_inside()) {
      put_carry(0, lane, sums);
    } else {
      store_bundle(a_, bundle, rows_of(bundle), columns_, sums);
    }
  }

  __device__ void carry_tail(bool is_one, int number, int lane) {
    PackType sums[R][P];
    set_zero(sums);
    Sums::add_to(sums, shared_.tails[number], lane);
    if (!shared_.ends_one[number]) shared_.add_tails_before(number, lane, sums);
    put_carry(is_one ? 0 : 1, lane, sums);
  }

  __device__ bool tile_begins_inside() const {
    const Offset begin = static_cast<Offset>(blockIdx.x) * tile_columns_;
    return begin > 0 && !MergeSlice::ends_bundle(merge_.path, begin - 1);
  }

  /// Whether this block is the last of those that a bundle reaches; makes the counter ready for the next launch.
  __device__ bool arrives_last(const Crossing& crossing) const {
    unsigned* const counter = merge_.arrivals + blockIdx.y * merge_.tiles + crossing.first_tile;
    const bool last = atomicAdd(counter, 1u) == crossing.last_tile - crossing.first_tile;
    if (last) *counter = 0;
    return last;
  }

  /// The whole block adds up the carries of one bundle in a fixed order: every (threads / record)-th tile first,
  /// then these sums.
  __device__ void add_carries(const Crossing& crossing) {
    __threadfence();
    constexpr int record = Sums::record;
    PackType* const partial = &shared_.heads[0][0];
    const int shares = max(1, min(static_cast<int>(blockDim.x) / record, Slices));
    for (int i = threadIdx.x; i < record * shares; i += blockDim.x) {
      const int share = i / record;
      PackType sum = zero_pack<PackType>();
#pragma unroll 4
      for (unsigned tile = crossing.first_tile + share; tile <= crossing.last_tile; tile += shares) {
        add(sum, load_shared_by_blocks(carry(tile, tile == crossing.first_tile ? 1 : 0) + i % record));
      }
      partial[i] = sum;
    }
    __syncthreads();
    if (threadIdx.x < L) {
      PackType sums[R][P];
      set_zero(sums);
      for (int share = 0; share < shares; ++share) {
#pragma unroll
        for (int i = 0; i < R * P; ++i) add(sums[i / P][i % P], partial[share * record + i * L + threadIdx.x]);
      }
      store_bundle(a_, crossing.bundle, rows_of(crossing.bundle), columns_, sums);
    }
    __syncthreads();
  }

  const RowBundles<T>& a_;
  const MergeTiles& merge_;
  const Columns& columns_;
  Sums& shared_;
  int tile_columns_;
};

}  // namespace block_eigs::cuda
