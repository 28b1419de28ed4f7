#pragma once

#include "spmm/cuda/dense/gram_stages.cuh"
#include "spmm/cuda/dense/tensor_core.cuh"
#include "spmm/cuda/runtime/early_launch.cuh"

// A thread block adds up one tile of the Gram matrix over its share of the rows, on the FP64 tensor cores, several
// stages under way at a time.
namespace block_eigs::cuda {

/// Sums of one warp: [left fragment][right fragment, even or odd columns].
template <class Tile>
using GramSums = double[Tile::left_fragments][2 * Tile::right_fragments][4];

/// Adds the products of eight rows. `left` and `right` point to this lane's pairs in one of the first four of
/// them; `below` is the way to those four rows further down.
template <class Tile, class T>
__device__ inline void multiply_rows(GramSums<Tile>& sums, const Pair<T>* left, const Pair<T>* right, int below) {
  double a[Tile::left_fragments][4];
#pragma unroll
  for (int i = 0; i < Tile::left_fragments; ++i) {
    const Pair<T> upper = left[8 * i];
    const Pair<T> lower = left[8 * i + below];
    a[i][0] = static_cast<double>(upper.first);
    a[i][1] = static_cast<double>(upper.second);
    a[i][2] = static_cast<double>(lower.first);
    a[i][3] = static_cast<double>(lower.second);
  }
#pragma unroll
  for (int j = 0; j < Tile::right_fragments; ++j) {
    const Pair<T> upper = right[8 * j];
    const Pair<T> lower = right[8 * j + below];
    const double even[2] = {static_cast<double>(upper.first), static_cast<double>(lower.first)};
    const double odd[2] = {static_cast<double>(upper.second), static_cast<double>(lower.second)};
#pragma unroll
    for (int i = 0; i < Tile::left_fragments; ++i) {
      multiply_add(sums[i][2 * j], a[i], even);
      multiply_add(sums[i][2 * j + 1], a[i], odd);
    }
  }
}

/// What part of the tile, and which rows of eight, a warp works on; `rows` is -1 for warps that only copy.
template <class Tile>
struct WarpPlace {
  int left, right, rows;

  __device__ WarpPlace() {
    const int warp = static_cast<int>(threadIdx.x / 32);
    left = warp % Tile::left_warps;
    right = warp / Tile::left_warps % Tile::right_warps;
    rows = threadIdx.x < Tile::threads ? warp / (Tile::left_warps * Tile::right_warps) : -1;
  }
};

/// Multiplies a warp's part of each stage.
template <class T, class Tile>
class StageReader {
 public:
  __device__ StageReader(const GramProblem<T>& problem, const GramPairs& pairs, const WarpPlace<Tile>& warp)
      : pitch_(pairs.pitch), first_(step_rows * warp.rows), stage_rows_(problem.stage_rows) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    const int row = first_ + lane % 4;
    const int left_pair = 8 * Tile::left_fragments * warp.left + lane / 4;
    const int right_pair = pairs.right_at + 8 * Tile::right_fragments * warp.right + lane / 4;
    left_at_ = row * pitch_ + place_of(left_pair, row);
    right_at_ = row * pitch_ + place_of(right_pair, row);
  }

  __device__ void multiply(GramSums<Tile>& sums, const Pair<T>* stage) const {
    const Pair<T>* left = stage + left_at_;
    const Pair<T>* right = stage + right_at_;
    const int down = Tile::rows_at_once * pitch_;
#pragma unroll 2
    for (int r = first_; r < stage_rows_; r += Tile::rows_at_once, left += down, right += down) {
      multiply_rows<Tile>(sums, left, right, 4 * pitch_);
    }
  }

 private:
  int pitch_;
  int first_;
  int stage_rows_;
  int left_at_;
  int right_at_;
};

/// Adds this warp's sums to the tile, column-major in shared memory, or begins the tile with them.
template <class Tile>
__device__ void add_to_tile(double* tile, const GramSums<Tile>& sums, const WarpPlace<Tile>& warp, bool begin) {
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int i = 0; i < Tile::left_fragments; ++i) {
#pragma unroll
    for (int j = 0; j < 2 * Tile::right_fragments; ++j) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int left_pair = 8 * (warp.left * Tile::left_fragments + i) + lane / 4;
        const int right_pair = 8 * (warp.right * Tile::right_fragments + j / 2) + 2 * (lane % 4) + k % 2;
        double& element = tile[(2 * right_pair + j % 2) * 2 * Tile::left_pairs + 2 * left_pair + k / 2];
        element = begin ? sums[i][j][k] : element + sums[i][j][k];
      }
    }
  }
}

/// Adds up the warps that shared the rows, in order, and writes the tile of this block.
template <class Tile>
__device__ void write_tile(double* tile, const GramSums<Tile>& sums, const WarpPlace<Tile>& warp,
                           double* partial) {
  for (int w = 0; w < Tile::row_warps; ++w) {
    __syncthreads();
    if (warp.rows == w) add_to_tile(tile, sums, warp, w == 0);
  }
  __syncthreads();
  const std::size_t number = static_cast<std::size_t>(blockIdx.x) * gridDim.y + blockIdx.y;
  double* mine = partial + number * Tile::elements;
  for (int k = static_cast<int>(threadIdx.x); k < Tile::elements; k += static_cast<int>(blockDim.x))
    mine[k] = tile[k];
}

template <class T, class Tile>
__global__ void __launch_bounds__(Tile::threads, Tile::blocks)
    gram_kernel(const __grid_constant__ GramProblem<T> problem) {
  extern __shared__ __align__(16) unsigned char shared[];
  let_next_begin();
  auto* buffer = reinterpret_cast<Pair<T>*>(shared);
  const GramPairs pairs = GramPairs::of<Tile>(problem);
  const StageCopier<T> copier(problem, pairs, static_cast<int>(threadIdx.x), Tile::threads);
  const WarpPlace<Tile> warp;
  const StageReader<T, Tile> reader(problem, pairs, warp);
  const int stage_size = problem.stage_places;
  const Row rows = static_cast<Row>(problem.left.rows);
  const Row stage_rows = static_cast<Row>(problem.stage_rows);
  const Row step = gridDim.x * stage_rows;
  Row ahead = blockIdx.x * stage_rows;
  for (int s = 0; s < Tile::stages - 1; ++s, ahead += step) {
    copier.start(buffer + s * stage_size, ahead, problem.even);
    close_copies();
  }
  GramSums<Tile> sums = {};
  int full = 0;
  int free = Tile::stages - 1;
  for (Row row = blockIdx.x * stage_rows; row < rows; row += step, ahead += step) {
    wait_for_copies<Tile::stages - 2>();
    __syncthreads();  // all threads' copies have arrived, and all are done with the stage that is filled next
    if (ahead < rows) copier.start(buffer + free * stage_size, ahead, problem.even);
    close_copies();
    reader.multiply(sums, buffer + full * stage_size);
    full = full + 1 == Tile::stages ? 0 : full + 1;
    free = free + 1 == Tile::stages ? 0 : free + 1;
  }
  wait_for_copies<0>();
  write_tile<Tile>(reinterpret_cast<double*>(buffer), sums, warp, problem.partial);
}

}  // namespace block_eigs::cuda
