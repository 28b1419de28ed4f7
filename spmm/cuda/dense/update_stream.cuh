#pragma once

#include "spmm/cuda/dense/async_copy.cuh"
#include "spmm/cuda/dense/device_list.cuh"

// What update kernels read and write: tables of column pairs, and the chunks of inputs on their way through shared
// memory.
namespace block_eigs::cuda {

constexpr int update_threads = 256;
constexpr int update_warps = update_threads / 32;
constexpr int rows_per_warp = 16;
constexpr int chunk_columns = 8;
constexpr int chunk_pairs = chunk_columns / 2;

/// What one update is about. Coefficients come as blocks of 8 x 8, column-major, chunk by chunk and within a chunk
/// tile by tile, padded with zeros: that is the order in which lanes need them.
template <class T>
struct UpdateProblem {
  DeviceList<ConstBlockView<T>> in;
  DeviceList<BlockView<T>> out;
  const double* coefficients;
  int chunks;        ///< of all inputs; each view begins a pair
  int tiles;         ///< of all outputs, rounded up to warps_across times the tiles of a warp
  int warps_across;  ///< warps that share the same rows
  bool even;         ///< all inputs, and bx, have even columns and pairs at multiples of their size
  bool even_out;     ///< the same of all outputs
  // the residual, where asked for
  ConstBlockView<T> bx;
  BlockView<T> r;
  const double* lambda;   ///< r.cols of them
  double* partial_norms;  ///< gridDim.x times r.cols
};

/// Blocks of 8 x 8 coefficients that travel with a launch, at most: a kernel of its own that fetches them takes
/// some 5 us. Before CUDA 12.1 parameters have 4 KB.
constexpr int launched_blocks = CUDART_VERSION >= 12010 ? 24 : 4;

/// An update with its coefficients, in place of UpdateProblem::coefficients.
template <class T>
struct LaunchedUpdate {
  UpdateProblem<T> update;
  double coefficients[launched_blocks * 64];
};

/// Where things lie in shared memory, in bytes.
struct UpdateLayout {
  int ring, chunks, tiles, lambda, norms, bytes;

  template <class T>
  __host__ __device__ static UpdateLayout of(const UpdateProblem<T>& problem, bool coefficients_in_shared,
                                             int depth) {
    const int residual_tiles = (problem.r.cols + chunk_columns - 1) / chunk_columns;
    UpdateLayout layout{};
    layout.ring =
        coefficients_in_shared ? problem.chunks * problem.tiles * 64 * static_cast<int>(sizeof(double)) : 0;
    layout.chunks = layout.ring + update_warps * depth * 64 * static_cast<int>(sizeof(Pair<T>));
    layout.tiles = layout.chunks +
                   (problem.chunks + residual_tiles) * chunk_pairs * static_cast<int>(sizeof(Columns<const T>));
    layout.lambda =
        layout.tiles + (problem.tiles + residual_tiles) * chunk_pairs * static_cast<int>(sizeof(Columns<T>));
    layout.norms = layout.lambda + residual_tiles * chunk_columns * static_cast<int>(sizeof(double));
    layout.bytes = layout.norms + update_warps * residual_tiles * chunk_columns * static_cast<int>(sizeof(double));
    return layout;
  }
};

/// Column pair number `pair` of one view; none behind its end.
template <class T, class View>
__device__ inline Columns<T> pair_of_view(const View& view, int pair) {
  const int count = min(2, view.cols - 2 * pair);
  if (count <= 0) return {view.data, view.stride, 0, 1};
  return {view.data + 2 * pair, view.stride, static_cast<std::int16_t>(count),
          static_cast<std::int16_t>(pairs_are_aligned(view.data, view.stride))};
}

/// The same of a list of views, each of which begins a pair.
template <class T, class List>
__device__ inline Columns<T> pair_of_list(const List& list, int pair) {
  int v = 0;
  while (v + 1 < list.size && pair >= (list.views[v].cols + 1) / 2) pair -= (list.views[v++].cols + 1) / 2;
  return pair_of_view<T>(list.views[v], pair);
}

template <class T>
__device__ void fill_tables(const UpdateProblem<T>& problem, int residual_tiles, Columns<const T>* chunks,
                            Columns<T>* tiles) {
  const int inputs = problem.chunks * chunk_pairs;
  const int outputs = problem.tiles * chunk_pairs;
  const int more = residual_tiles * chunk_pairs;
  for (int p = static_cast<int>(threadIdx.x); p < inputs + more; p += update_threads) {
    chunks[p] = p < inputs ? pair_of_list<const T>(problem.in, p) : pair_of_view<const T>(problem.bx, p - inputs);
  }
  for (int p = static_cast<int>(threadIdx.x); p < outputs + more; p += update_threads) {
    tiles[p] = p < outputs ? pair_of_list<T>(problem.out, p) : pair_of_view<T>(problem.r, p - outputs);
  }
}

/// Copies chunk after chunk of 16 rows, then of the warp's next 16 rows, into the ring, and keeps the next chunk
/// in registers: what multiplies one chunk need not wait for it.
template <class T, int Depth>
class ChunkStream {
 public:
  /// Of rows `row` .. `row` + 15, then `step` rows further down.
  __device__ ChunkStream(Pair<T>* ring, const Columns<const T>* chunks, int count, Row row, Row step, Row rows,
                         bool even)
      : ring_(ring),
        chunks_(chunks + threadIdx.x % 4),
        count_(count),
        row_(row + threadIdx.x % 32 / 4),
        step_(step),
        rows_(rows),
        even_(even),
        from_(*chunks_) {
    int lane = static_cast<int>(threadIdx.x % 32);
    asm volatile("mov.b32 %0, %0;" : "+r"(lane));  // to be kept, not to be found anew for each chunk
    at_ = lane;
    for (int d = 0; d < Depth; ++d) fetch(d);
    read();
  }

  /// This lane's pairs of the next chunk: row g and row g + 8, g = lane / 4, columns 2t and 2t + 1, t = lane % 4.
  __device__ void next(Pair<T>& upper, Pair<T>& lower) {
    upper = upper_;
    lower = lower_;
    fetch(slot_);  // into the place where they were
    slot_ = slot_ + 1 == Depth ? 0 : slot_ + 1;
    read();
  }

 private:
  __device__ void read() {
    wait_for_copies<Depth - 1>();
    upper_ = ring_[at_ + slot_ * 64];
    lower_ = ring_[at_ + slot_ * 64 + 32];
  }

  __device__ void fetch(int slot) {
    Pair<T>* const to = ring_ + at_ + slot * 64;
    if (even_) {
      const Row stride = static_cast<Row>(from_.stride);
      const T* const pair = from_.data + static_cast<std::size_t>(row_) * stride;
      const bool is_there = from_.count > 0;
      copy_aligned_pair(to, pair, is_there && row_ < rows_);
      copy_aligned_pair(to + 32, pair + 8 * stride, is_there && row_ + 8 < rows_);
    } else {
      copy_pair_async(to, from_, row_, 0, row_ < rows_);
      copy_pair_async(to + 32, from_, row_ + 8, 0, row_ + 8 < rows_);
    }
    close_copies();
    const bool last = ++chunk_ == count_;
    chunk_ = last ? 0 : chunk_;
    row_ += last ? step_ : 0;
    from_ = chunks_[chunk_ * chunk_pairs];  // well before it is needed
  }

  Pair<T>* ring_;
  int at_;  ///< this lane's place in a slot
  const Columns<const T>* chunks_;
  int count_;
  int chunk_ = 0;
  int slot_ = 0;
  Row row_;
  Row step_;
  Row rows_;
  bool even_;
  Columns<const T> from_;
  Pair<T> upper_, lower_;
};

}  // namespace block_eigs::cuda
