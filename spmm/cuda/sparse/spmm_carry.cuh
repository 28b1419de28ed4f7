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

/// What the slices of a block, each one of `Group` threads, leave behind in shared memory. Records hold R * P
/// packs a lane; those of tails lie TailRoom packs apart.
template <class T, int W, int L, int P, int R, int Slices, int Group, int TailRoom = R* P* L>
struct SliceSums {
  using PackType = Pack<T, W>;
  static constexpr int record = R * P * L;

  PackType heads[Slices][record];               ///< sums that close a bundle which began before the slice
  PackType tails[Slices][TailRoom];             ///< sums of a bundle that goes on behind the slice
  std::uint32_t ends_one[Slices * Group / 32];  ///< bit for each thread: some bundle ends in its slice
  Crossing crossings[2];  ///< bundle that crosses the beginning of the block's tile, and its end
  bool is_last[2];        ///< the block is the last one to come to it

  __device__ static void put(PackType* to, int lane, const PackType (&sums)[R][P]) {
#pragma unroll
    for (int i = 0; i < R * P; ++i) to[i * L + lane] = sums[i / P][i % P];
  }
  __device__ static void add_to(PackType (&sums)[R][P], const PackType* from, int lane) {
#pragma unroll
    for (int i = 0; i < R * P; ++i) add(sums[i / P][i % P], from[i * L + lane]);
  }
  /// By all threads, whether some bundle ends in their slice.
  __device__ void note_ends(bool one) {
    const std::uint32_t bits = __ballot_sync(~0u, one);
    if (threadIdx.x % 32 == 0) ends_one[threadIdx.x / 32] = bits;
  }
  __device__ bool has_end(int slice) const { return (ends_one[slice * Group / 32] >> (slice * Group % 32)) & 1; }

  /// Adds the tails of the slices before `slice` from where the bundle begins on; false where that is the tile's
  /// first column or before it.
  __device__ bool add_tails_before(int slice, int lane, PackType (&sums)[R][P]) const {
    const int last = last_end_before(slice);
#pragma unroll 4
    for (int before = slice - 1; before >= max(last, 0); --before) add_to(sums, tails[before], lane);
    return last >= 0;
  }

 private:
  /// The nearest slice before `slice` in which a bundle ends, or -1.
  __device__ int last_end_before(int slice) const {
    const int threads_before = slice * Group;
    for (int word = (threads_before - 1) / 32; word >= 0 && threads_before > 0; --word) {
      const int beyond = max(0, 32 * (word + 1) - threads_before);
      const std::uint32_t bits = ends_one[word] & (~0u >> beyond);
      if (bits != 0) return (32 * word + 31 - __clz(static_cast<int>(bits))) / Group;
    }
    return -1;
  }
};

template <class T, int W, int L, int P, int R, int Slices, int Group, class Columns, int TailRoom = R* P* L>
class Fixup {
 public:
  using Sums = SliceSums<T, W, L, P, R, Slices, Group, TailRoom>;
  using PackType = Pack<T, W>;

  __device__ Fixup(const RowBundles<T>& a, const MergeTiles& merge, const Columns& columns, Sums& shared,
                   MergeTile tile)
      : a_(a), merge_(merge), columns_(columns), shared_(shared), tile_(tile) {}

  /// By one thread, early: asks for what finish() will need of column_offsets where the tile's ends are crossed.
  __device__ void look_ahead() const {
    if (tile_begins_inside()) prefetch(a_.column_offsets + first_bundle());
    if (crosses_end()) prefetch(a_.column_offsets + last_bundle());
  }

  /// After a __syncthreads() behind the last put(). All threads of the block call; `lane` is below L in the lanes
  /// that hold the sums of their slice, at least L otherwise.
  __device__ void finish(const MergeSlice& slice, int number, int lane) {
    const bool crosses_begin = tile_begins_inside();
    const bool crosses_end = this->crosses_end();
    const bool is_one = crosses_begin && crosses_end && first_bundle() == last_bundle();
    if (lane < L && slice.length > 0) {
      if (slice.opens_inside && shared_.has_end(number)) close_head(slice.bundle, number, lane);
      if (slice.begin + slice.length == tile_.end && crosses_end) carry_tail(is_one, number, lane);
    }
    if (!crosses_begin && !crosses_end) return;
    if (threadIdx.x == 0) {
      shared_.crossings[0] = crossing_of(first_bundle());
      shared_.crossings[1] = crossing_of(last_bundle());
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();  // for the whole block, whose carries the barrier has put before it
      shared_.is_last[0] = crosses_begin && arrives_last(shared_.crossings[0]);
      shared_.is_last[1] = crosses_end && !is_one && arrives_last(shared_.crossings[1]);
    }
    __syncthreads();
    if (shared_.is_last[0]) add_carries(shared_.crossings[0]);
    if (shared_.is_last[1]) add_carries(shared_.crossings[1]);
  }

 private:
  __device__ static void prefetch(const Offset* at) { asm volatile("prefetch.global.L2 [%0];" ::"l"(at)); }
  __device__ bool crosses_end() const { return !MergeSlice::ends_bundle(merge_.path, tile_.end - 1); }
  __device__ LocalIndex first_bundle() const { return MergeSlice::bundle_of(merge_.path, tile_.begin); }
  __device__ LocalIndex last_bundle() const { return MergeSlice::bundle_of(merge_.path, tile_.end - 1); }

  /// Tiles do not begin a multiple of `tile` columns from the first, but those that a bundle crosses do.
  __device__ Crossing crossing_of(LocalIndex bundle) const {
    Crossing result;
    result.first_tile = static_cast<unsigned>(a_.column_offsets[bundle] / merge_.tile);
    result.last_tile = static_cast<unsigned>((a_.column_offsets[bundle + 1] - 1) / merge_.tile);
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
    if (!shared_.has_end(number)) shared_.add_tails_before(number, lane, sums);
    put_carry(is_one ? 0 : 1, lane, sums);
  }

  __device__ bool tile_begins_inside() const {
    return tile_.begin > 0 && !MergeSlice::ends_bundle(merge_.path, tile_.begin - 1);
  }

  /// Whether this block is the last of those that a bundle reaches; makes the counter ready for the next launch.
  __device__ bool arrives_last(const Crossing& crossing) const {
    unsigned* const counter = merge_.arrivals + blockIdx.y * merge_.tiles + crossing.first_tile;
    const bool last = atomicAdd(counter, 1u) == crossing.last_tile - crossing.first_tile;
    if (last) *counter = 0;
    return last;
  }

  /// The whole block adds up the carries of one bundle in a fixed order: every (threads / record)-th tile first,
  /// where there are as many, then these sums.
  __device__ void add_carries(const Crossing& crossing) {
    __threadfence();
    constexpr int record = Sums::record;
    PackType* const partial = &shared_.heads[0][0];
    const int tiles = static_cast<int>(crossing.last_tile - crossing.first_tile) + 1;
    const int shares = max(1, min(min(static_cast<int>(blockDim.x) / record, Slices), tiles));
    for (int i = threadIdx.x; i < record * shares; i += blockDim.x) {
      const int share = i / record;
      PackType sum = zero_pack<PackType>();
#pragma unroll 16
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
  MergeTile tile_;
};

}  // namespace block_eigs::cuda
