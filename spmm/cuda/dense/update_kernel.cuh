#pragma once

#include "spmm/cuda/dense/tensor_core.cuh"
#include "spmm/cuda/dense/update_stream.cuh"
#include "spmm/cuda/runtime/early_launch.cuh"

// A warp takes 16 rows at a time, reads their inputs once, 8 columns (a chunk) after the other, and keeps their
// outputs, tiles of 8 columns, in registers as accumulators of the FP64 tensor cores. Chunks and tiles are four
// pairs of columns each, of one view or of several. Chunks travel through a ring in shared memory in which each
// thread reads only what it copied itself: the warps never wait for each other.
namespace block_eigs::cuda {

__device__ inline void store_whole_pair(double* to, Pair<double> value) {
  __stcg(reinterpret_cast<double2*>(to), make_double2(value.first, value.second));
}
__device__ inline void store_whole_pair(float* to, Pair<float> value) {
  __stcg(reinterpret_cast<float2*>(to), make_float2(value.first, value.second));
}

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

/// One chunk: c += a times its coefficients. `first` are those of the first tile, and then of the next chunk's.
template <int Tiles, class T>
__device__ inline void multiply_chunk(double (&c)[Tiles][4], Pair<T> upper, Pair<T> lower, double2& first,
                                      const double2* coefficients, const double2* next) {
  const double a[4] = {static_cast<double>(upper.first), static_cast<double>(lower.first),
                       static_cast<double>(upper.second), static_cast<double>(lower.second)};
#pragma unroll
  for (int tile = 0; tile < Tiles; ++tile) {
    const double b[2] = {first.x, first.y};
    first = tile + 1 < Tiles ? coefficients[(tile + 1) * 32] : *next;
    multiply_add(c[tile], a, b);
  }
}

/// Outputs of one tile, rounded.
template <class T>
__device__ inline void round_tile(const double (&c)[4], Pair<T> (&rounded)[2]) {
#pragma unroll
  for (int half = 0; half < 2; ++half)
    rounded[half] = {static_cast<T>(c[2 * half]), static_cast<T>(c[2 * half + 1])};
}

/// Stores outputs of one tile where they belong. `whole`: all rows are there and all pairs complete and at
/// multiples of their size.
template <class T>
__device__ inline void store_tile(const Columns<T>& to, Row row, Row rows, const Pair<T> (&values)[2],
                                  bool whole) {
  if (whole) {
    if (to.count == 0) return;
    const Row stride = static_cast<Row>(to.stride);
    T* const global = to.data + static_cast<std::size_t>(row) * stride;
    store_whole_pair(global, values[0]);
    store_whole_pair(global + 8 * stride, values[1]);
    return;
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    if (row + 8 * half < rows) store_pair(to, row + 8 * half, values[half]);
  }
}

template <class T, int Tiles>
__device__ inline void store_tiles(const Columns<T>* tiles, Row row, Row rows, const double (&c)[Tiles][4],
                                   bool whole) {
#pragma unroll
  for (int tile = 0; tile < Tiles; ++tile) {
    Pair<T> rounded[2];
    round_tile(c[tile], rounded);
    store_tile(tiles[tile * chunk_pairs], row, rows, rounded, whole);
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
__device__ UpdateTables<T> fill_shared(const UpdateProblem<T>& problem, const double* given, unsigned char* shared,
                                       int residual_tiles) {
  const UpdateLayout layout = UpdateLayout::of(problem, InShared, Depth);
  auto* chunks = reinterpret_cast<Columns<const T>*>(shared + layout.chunks);
  auto* tiles = reinterpret_cast<Columns<T>*>(shared + layout.tiles);
  auto* lambda = reinterpret_cast<double*>(shared + layout.lambda);
  auto* norms = reinterpret_cast<double*>(shared + layout.norms);
  fill_tables(problem, residual_tiles, chunks, tiles);
  const auto* coefficients = reinterpret_cast<const double2*>(given);
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

/// By all blocks of the grid, with the `given` coefficients.
template <class T, int Tiles, int Depth, bool InShared, bool WithResidual>
__device__ void update_rows(const UpdateProblem<T>& problem, const double* given) {
  extern __shared__ __align__(16) unsigned char shared[];
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int residual_tiles = WithResidual ? (problem.r.cols + chunk_columns - 1) / chunk_columns : 0;
  const UpdateTables<T> tables = fill_shared<Depth, InShared>(problem, given, shared, residual_tiles);
  wait_for_earlier();  // `given` is older where this was launched early

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
  double2 first = *coefficients;
  for (; block_row < rows; block_row += step) {
    double c[Tiles][4] = {};
    const double2* here = coefficients;
    for (int chunk = 1; chunk <= problem.chunks; ++chunk) {
      Pair<T> upper, lower;
      stream.next(upper, lower);
      const double2* const there = chunk < problem.chunks ? here + problem.tiles * 32 : coefficients;
      multiply_chunk(c, upper, lower, first, here, there);
      here = there;
    }
    if constexpr (InShared) {
      __syncwarp();
    } else {
      __syncthreads();  // outputs may replace inputs that other warps of these rows still read
    }
    const Row row = block_row + ahead + static_cast<Row>(lane / 4);
    const bool whole = problem.even_out && block_row + ahead + rows_per_warp <= rows;
    if constexpr (WithResidual) {
#pragma unroll
      for (int tile = 0; tile < Tiles; ++tile) {
        Pair<T> rounded[2];
        round_tile(c[tile], rounded);
        store_tile(tiles[tile * chunk_pairs], row, rows, rounded, whole);
        if (tile >= residual_tiles) continue;
        Pair<T> bx[2];
        stream.next(bx[0], bx[1]);
        residual_tile(tiles[(problem.tiles + tile) * chunk_pairs], row, rows, rounded, bx,
                      tables.lambda + tile * chunk_columns,
                      tables.norms + (warp * residual_tiles + tile) * chunk_columns);
      }
    } else if (whole) {
      store_tiles<T>(tiles, row, rows, c, true);
    } else {
      store_tiles<T>(tiles, row, rows, c, false);
    }
  }
  if constexpr (WithResidual) write_norms(problem, tables.norms, residual_tiles * chunk_columns);
}

template <class T, int Tiles, int Depth, int Blocks, bool InShared, bool WithResidual>
__global__ void __launch_bounds__(update_threads, Blocks)
    update_kernel(const __grid_constant__ UpdateProblem<T> problem) {
  update_rows<T, Tiles, Depth, InShared, WithResidual>(problem, problem.coefficients);
}

template <class T, int Tiles, int Depth, int Blocks>
__global__ void __launch_bounds__(update_threads, Blocks)
    launched_update_kernel(const __grid_constant__ LaunchedUpdate<T> launched) {
  let_next_begin();
  update_rows<T, Tiles, Depth, true, false>(launched.update, launched.coefficients);
}

}  // namespace block_eigs::cuda
