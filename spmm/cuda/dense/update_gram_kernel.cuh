#pragma once

#include "spmm/cuda/dense/update_kernel.cuh"

// An update of at most 16 columns and the Gram matrices of what it makes, in one pass. The tensor cores are given
// the transpose of what update_kernel computes: accumulators of [out]^T = coefficients^T [in]^T are, as they are,
// operands of out^T out, so that nothing is handed from lane to lane. A sum over rows may take them in any order:
// k = t and k = t + 4 of tensor_core.cuh are rows 2t and 2t + 1 here.
namespace block_eigs::cuda {

constexpr int gram_tiles = 2;  ///< of outputs; one tile of 16 columns on the tensor cores
constexpr int gram_columns = gram_tiles * chunk_columns;
constexpr int gram_elements = gram_columns * gram_columns;
/// As launched_blocks: what 32 inputs need.
constexpr int gram_launched_blocks = CUDART_VERSION >= 12010 ? 8 : 4;

template <class T>
struct UpdateGramProblem {
  UpdateProblem<T> update;  ///< of one output, in gram_tiles tiles, without residual
  const T* d;               ///< where scaled: z = diag(d) out
  BlockView<T> z;
  double* partial;                             ///< gridDim.x times out^T out, behind out^T z where scaled
  double launched[gram_launched_blocks * 64];  ///< the coefficients, where `update` has none
};

/// What a lane has of one product of 16 x 16, in tiles of 16 x 8.
struct GramPart {
  double sums[gram_tiles][4] = {};

  /// += left^T right for 8 rows, of which this lane has rows 2t and 2t + 1: columns g, then g + 8.
  __device__ void add(const double (&left)[4], const double (&right)[4]) {
    const double a[4] = {left[0], left[2], left[1], left[3]};
#pragma unroll
    for (int tile = 0; tile < gram_tiles; ++tile) {
      const double b[2] = {right[2 * tile], right[2 * tile + 1]};
      multiply_add(sums[tile], a, b);
    }
  }

  /// Adds up the warps' parts in their order; for whole blocks. `total`, column-major, is complete after the next
  /// __syncthreads.
  __device__ void add_up(double* total) const {
    const int lane = static_cast<int>(threadIdx.x % 32);
    for (int warp = 0; warp < update_warps; ++warp) {
      if (static_cast<int>(threadIdx.x / 32) == warp) {
#pragma unroll
        for (int k = 0; k < gram_tiles * 4; ++k) {
          const int row = lane / 4 + k % 4 / 2 * 8;
          const int column = k / 4 * chunk_columns + 2 * (lane % 4) + k % 2;
          double& to = total[column * gram_columns + row];
          to = warp == 0 ? sums[k / 4][k % 4] : to + sums[k / 4][k % 4];
        }
      }
      __syncthreads();
    }
  }
};

/// This lane's elements of 8 rows: rows `row` and `row` + 1, columns g, then g + 8.
template <class T>
__device__ inline void store_lane(const BlockView<T>& to, Row row, Row rows, const T (&values)[4]) {
  const int column = static_cast<int>(threadIdx.x % 32 / 4);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int mine = column + k / 2 * chunk_columns;
    const Row there = row + static_cast<Row>(k % 2);
    if (there < rows && mine < to.cols)
      __stcg(to.data + static_cast<std::size_t>(there) * static_cast<Row>(to.stride) + mine, values[k]);
  }
}

template <class T, int Depth, int Blocks, bool Scaled>
__global__ void __launch_bounds__(update_threads, Blocks)
    update_gram_kernel(const __grid_constant__ UpdateGramProblem<T> problem) {
  extern __shared__ __align__(16) unsigned char shared[];
  const UpdateProblem<T>& update = problem.update;
  let_next_begin();
  if (update.coefficients != nullptr) wait_for_earlier();
  const double* const given = update.coefficients != nullptr ? update.coefficients : problem.launched;
  const UpdateTables<T> tables = fill_shared<Depth, true>(update, given, shared, 0);
  wait_for_earlier();
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  const double2* const coefficients = tables.coefficients + lane;
  const BlockView<T> out = update.out.views[0];
  const Row rows = static_cast<Row>(out.rows);
  const Row step = gridDim.x * update_warps * rows_per_warp;
  Row first = (blockIdx.x * update_warps + threadIdx.x / 32) * rows_per_warp;
  ChunkStream<T, Depth> stream(tables.ring + warp * Depth * 64, tables.chunks, update.chunks, first, step, rows,
                               update.even);
  GramPart with_out, with_z;
  for (; first < rows; first += step) {
    const Row row = first + 2 * static_cast<Row>(lane % 4);
    T d[2][2] = {};
    if constexpr (Scaled) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const Row there = row + static_cast<Row>(8 * (k / 2) + k % 2);
        if (there < rows) d[k / 2][k % 2] = problem.d[there];
      }
    }
    double c[2][4] = {};
    for (int chunk = 0; chunk < update.chunks; ++chunk) {
      Pair<T> upper, lower;
      stream.next(upper, lower);
      const double2 left = coefficients[chunk * gram_tiles * 32];
      const double2 right = coefficients[(chunk * gram_tiles + 1) * 32];
      const double a[4] = {left.x, right.x, left.y, right.y};
      const double b[2][2] = {{static_cast<double>(upper.first), static_cast<double>(upper.second)},
                              {static_cast<double>(lower.first), static_cast<double>(lower.second)}};
      multiply_add(c[0], a, b[0]);
      multiply_add(c[1], a, b[1]);
    }
    __syncwarp();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      T values[4];
      double exact[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        values[k] = static_cast<T>(c[half][k]);
        exact[k] = static_cast<double>(values[k]);
      }
      store_lane(out, row + 8 * half, rows, values);
      with_out.add(exact, exact);
      if constexpr (Scaled) {
        double scaled[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          values[k] *= d[half][k % 2];
          scaled[k] = static_cast<double>(values[k]);
        }
        store_lane(problem.z, row + 8 * half, rows, values);
        with_z.add(exact, scaled);
      }
    }
  }
  wait_for_copies<0>();
  __shared__ double totals[Scaled ? 2 : 1][gram_elements];
  if constexpr (Scaled) with_z.add_up(totals[0]);
  with_out.add_up(totals[Scaled ? 1 : 0]);
  const int columns = out.cols;
  const int count = (Scaled ? 2 : 1) * columns * columns;
  for (int k = static_cast<int>(threadIdx.x); k < count; k += update_threads) {
    const int column = k / columns;
    problem.partial[static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(count) + k] =
        totals[column / columns][column % columns * gram_columns + k % columns];
  }
}

}  // namespace block_eigs::cuda
