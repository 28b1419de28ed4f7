#pragma once

#include "spmm/cuda/async_copy.cuh"
#include "spmm/cuda/device_list.cuh"
#include "spmm/cuda/tensor_core.cuh"

// A warp takes 16 rows at a time, reads their inputs once, 8 columns (a chunk) after the other, and keeps their
// outputs, tiles of 8 columns, in registers as accumulators of the FP64 tensor cores. Chunks and tiles are four
// pairs of columns each, of one view or of several. Chunks travel through a ring in shared memory in which each
// thread reads only what it copied itself: the warps never wait for each other.
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
  // the residual, where asked for
  ConstBlockView<T> bx;
  BlockView<T> r;
  const double* lambda;   ///< r.cols of them
  double* partial_norms;  ///< gridDim.x times r.cols
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

/// Copies chunk after chunk of 16 rows, then of the warp's next 16 rows, into the ring.
template <class T, int Depth>
class ChunkStream {
 public:
  __device__ ChunkStream(Pair<T>* ring, const Columns<const T>* chunks, int count, Row row, Row step, Row rows,
                         bool even)
      : ring_(ring + threadIdx.x % 32),
        chunks_(chunks),
        count_(count),
        row_(row),
        step_(step),
        rows_(rows),
        even_(even) {
    for (int d = 0; d < Depth; ++d) {
      fetch(d);
      close_copies();
    }
  }

  /// This lane's pairs of the next chunk: row g and row g + 8, g = lane / 4, columns 2t and 2t + 1, t = lane % 4.
  __device__ void next(Pair<T>& upper, Pair<T>& lower) {
    wait_for_copies<Depth - 1>();
    upper = ring_[slot_ * 64];
    lower = ring_[slot_ * 64 + 32];
  }

  /// The pairs are used; their place may be taken.
  __device__ void release() {
    fetch(slot_);
    close_copies();
    slot_ = slot_ + 1 == Depth ? 0 : slot_ + 1;
  }

 private:
  __device__ void fetch(int slot) {
    const int lane = threadIdx.x % 32;
    const Row row = row_ + lane / 4;
    const Columns<const T> from = chunks_[chunk_ * chunk_pairs + lane % 4];
    if (even_) {
      const Row stride = static_cast<Row>(from.stride);
      const T* const pair = from.data + static_cast<std::size_t>(row) * stride;
      const bool is_there = from.count > 0;
      copy_aligned_pair(ring_ + slot * 64, pair, is_there && row < rows_);
      copy_aligned_pair(ring_ + slot * 64 + 32, pair + 8 * stride, is_there && row + 8 < rows_);
    } else {
      copy_pair_async(ring_ + slot * 64, from, row, 0, row < rows_);
      copy_pair_async(ring_ + slot * 64 + 32, from, row + 8, 0, row + 8 < rows_);
    }
    if (++chunk_ == count_) {
      chunk_ = 0;
      row_ += step_;
    }
  }

  Pair<T>* ring_;
  const Columns<const T>* chunks_;
  int count_;
  int chunk_ = 0;
  int slot_ = 0;
  Row row_;
  Row step_;
  Row rows_;
  bool even_;
};

template <class T>
__device__ inline void store_pair(const Columns<T>& to, Row row, Pair<T> value) {
  if (to.count == 0) return;
  T* global = to.data + static_cast<std::size_t>(row) * static_cast<Row>(to.stride);
  if (to.aligned != 0 && to.count > 1) {
    *reinterpret_cast<Pair<T>*>(global) = value;
  } else {
    global[0] = value.first;
    if (to.count > 1) global[1] = value.second;
  }
}

/// r = ax - bx lambda for one tile, `r` being this lane's pair; adds the squares to `norms`, 8 columns of this
/// warp.
template <class T>
__device__ inline void residual_tile(const Columns<T>& r, Row row, Row rows, const Pair<T> (&ax)[2],
                                     const Pair<T> (&bx)[2], const double* lambda, double* norms) {
  const int lane = threadIdx.x % 32;
  const int column = 2 * (lane % 4);
  double first = 0.0;
  double second = 0.0;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const Pair<T> value{ax[half].first - bx[half].first * static_cast<T>(lambda[column]),
                        ax[half].second - bx[half].second * static_cast<T>(lambda[column + 1])};
    if (row + 8 * half >= rows) continue;
    store_pair(r, row + 8 * half, value);
    first += static_cast<double>(value.first) * static_cast<double>(value.first);
    second += static_cast<double>(value.second) * static_cast<double>(value.second);
  }
#pragma unroll
  for (int distance = 4; distance < 32; distance *= 2) {
    first += __shfl_xor_sync(0xffffffffU, first, distance);
    second += __shfl_xor_sync(0xffffffffU, second, distance);
  }
  if (lane < 4) {
    norms[column] += first;
    norms[column + 1] += second;
  }
}

/// One chunk: c += a times its coefficients.
template <int Tiles, class T>
__device__ inline void multiply_chunk(double (&c)[Tiles][4], Pair<T> upper, Pair<T> lower,
                                      const double2* coefficients) {
  const double a[4] = {static_cast<double>(upper.first), static_cast<double>(lower.first),
                       static_cast<double>(upper.second), static_cast<double>(lower.second)};
#pragma unroll
  for (int tile = 0; tile < Tiles; ++tile) {
    const double2 pair = coefficients[tile * 32];
    const double b[2] = {pair.x, pair.y};
    multiply_add(c[tile], a, b);
  }
}

/// Outputs of one tile, rounded, and stored where they belong.
template <class T>
__device__ inline void store_tile(const Columns<T>& to, Row row, Row rows, const double (&c)[4],
                                  Pair<T> (&rounded)[2]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    rounded[half] = {static_cast<T>(c[2 * half]), static_cast<T>(c[2 * half + 1])};
    if (row + 8 * half < rows) store_pair(to, row + 8 * half, rounded[half]);
  }
}

/// Adds up what the warps found and leaves it to sum_parts.
template <class T>
__device__ void write_norms(const UpdateProblem<T>& problem, const double* norms, int padded) {
  __syncthreads();
  for (int j = static_cast<int>(threadIdx.x); j < problem.r.cols; j += update_threads) {
    double sum = 0.0;
    for (int w = 0; w < update_warps; ++w) sum += norms[w * padded + j];
    problem.partial_norms[static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(problem.r.cols) + j] =
        sum;
  }
}

/// Pointers into shared memory, filled.
template <class T>
struct UpdateTables {
  const double2* coefficients;
  Pair<T>* ring;
  const Columns<const T>* chunks;  ///< pairs of the inputs, then of bx
  const Columns<T>* tiles;         ///< pairs of the outputs, then of r
  const double* lambda;
  double* norms;
};

template <int Depth, bool InShared, class T>
__device__ UpdateTables<T> fill_shared(const UpdateProblem<T>& problem, unsigned char* shared,
                                       int residual_tiles) {
  const UpdateLayout layout = UpdateLayout::of(problem, InShared, Depth);
  auto* chunks = reinterpret_cast<Columns<const T>*>(shared + layout.chunks);
  auto* tiles = reinterpret_cast<Columns<T>*>(shared + layout.tiles);
  auto* lambda = reinterpret_cast<double*>(shared + layout.lambda);
  auto* norms = reinterpret_cast<double*>(shared + layout.norms);
  fill_tables(problem, residual_tiles, chunks, tiles);
  const auto* coefficients = reinterpret_cast<const double2*>(problem.coefficients);
  if constexpr (InShared) {
    auto* copy = reinterpret_cast<double2*>(shared);
    for (int k = static_cast<int>(threadIdx.x); k < problem.chunks * problem.tiles * 32; k += update_threads) {
      copy[k] = coefficients[k];
    }
    coefficients = copy;
  }
  const int columns = residual_tiles * chunk_columns;
  for (int j = static_cast<int>(threadIdx.x); j < update_warps * columns; j += update_threads) {
    norms[j] = 0.0;
    if (j < columns) lambda[j] = j < problem.r.cols ? problem.lambda[j] : 0.0;
  }
  __syncthreads();
  return {coefficients, reinterpret_cast<Pair<T>*>(shared + layout.ring), chunks, tiles, lambda, norms};
}

template <class T, int Tiles, int Depth, int Blocks, bool InShared, bool WithResidual>
__global__ void __launch_bounds__(update_threads, Blocks)
    update_kernel(const __grid_constant__ UpdateProblem<T> problem) {
  extern __shared__ __align__(16) unsigned char shared[];
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int residual_tiles = WithResidual ? (problem.r.cols + chunk_columns - 1) / chunk_columns : 0;
  const UpdateTables<T> tables = fill_shared<Depth, InShared>(problem, shared, residual_tiles);

  const int across = InShared ? 1 : problem.warps_across;
  const int first_tile = warp % across * Tiles;
  const double2* coefficients = tables.coefficients + first_tile * 32 + lane;
  const Columns<T>* tiles = tables.tiles + first_tile * chunk_pairs + lane % 4;
  const Row rows = static_cast<Row>(problem.out.rows);
  const Row block_rows = static_cast<Row>(update_warps / across * rows_per_warp);
  const Row ahead = static_cast<Row>(warp / across * rows_per_warp);
  const Row step = gridDim.x * block_rows;
  Row block_row = blockIdx.x * block_rows;
  ChunkStream<T, Depth> stream(tables.ring + warp * Depth * 64, tables.chunks, problem.chunks + residual_tiles,
                               block_row + ahead, step, rows, problem.even);
  for (; block_row < rows; block_row += step) {
    double c[Tiles][4] = {};
    for (int chunk = 0; chunk < problem.chunks; ++chunk) {
      Pair<T> upper, lower;
      stream.next(upper, lower);
      multiply_chunk(c, upper, lower, coefficients + static_cast<std::ptrdiff_t>(chunk) * problem.tiles * 32);
      stream.release();
    }
    if constexpr (InShared) {
      __syncwarp();
    } else {
      __syncthreads();  // outputs may replace inputs that other warps of these rows still read
    }
    const Row row = block_row + ahead + static_cast<Row>(lane / 4);
#pragma unroll
    for (int tile = 0; tile < Tiles; ++tile) {
      Pair<T> rounded[2];
      store_tile(tiles[tile * chunk_pairs], row, rows, c[tile], rounded);
      if constexpr (WithResidual) {
        if (tile >= residual_tiles) continue;
        Pair<T> bx[2];
        stream.next(bx[0], bx[1]);
        residual_tile(tiles[(problem.tiles + tile) * chunk_pairs], row, rows, rounded, bx,
                      tables.lambda + tile * chunk_columns,
                      tables.norms + (warp * residual_tiles + tile) * chunk_columns);
        stream.release();
      }
    }
  }
  if constexpr (WithResidual) write_norms(problem, tables.norms, residual_tiles * chunk_columns);
}

}  // namespace block_eigs::cuda
