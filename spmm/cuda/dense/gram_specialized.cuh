#pragma once

#include "spmm/cuda/dense/barrier.cuh"
#include "spmm/cuda/dense/gram_kernel.cuh"

// As gram_kernel, for wide tiles that arithmetic holds up: some warps only copy, the others only multiply, and
// they meet at barriers of single stages instead of at those of the whole block. The instructions that copies take
// then come between no two multiplications, and no warp waits for the slowest of all.
namespace block_eigs::cuda {

constexpr int copying_warps = 4;  ///< one for each scheduler of a multiprocessor

template <int Stages>
struct StageBarriers {
  Barrier filled[Stages];   ///< all copying threads have seen their copies arrive
  Barrier emptied[Stages];  ///< all multiplying threads are done
};

template <class Tile, class T>
__device__ void copy_stages(const GramProblem<T>& problem, const GramPairs& pairs, Pair<T>* buffer,
                            StageBarriers<Tile::stages>& barriers) {
  const StageCopier<T> copier(problem, pairs, static_cast<int>(threadIdx.x) - Tile::threads, 32 * copying_warps);
  const Row rows = static_cast<Row>(problem.left.rows);
  const Row stage_rows = static_cast<Row>(problem.stage_rows);
  int stage = 0;
  unsigned round = 0;
  for (Row row = blockIdx.x * stage_rows; row < rows; row += gridDim.x * stage_rows) {
    if (round > 0) barriers.emptied[stage].wait(round - 1);
    copier.start(buffer + stage * problem.stage_places, row, problem.even);
    barriers.filled[stage].arrive_after_copies();
    if (++stage == Tile::stages) {
      stage = 0;
      ++round;
    }
  }
  wait_for_copies<0>();
}

template <class T, class Tile>
__global__ void __launch_bounds__(Tile::threads + 32 * copying_warps, 1)
    specialized_gram_kernel(const __grid_constant__ GramProblem<T> problem) {
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ StageBarriers<Tile::stages> barriers;
  auto* buffer = reinterpret_cast<Pair<T>*>(shared);
  const GramPairs pairs = GramPairs::of<Tile>(problem);
  const WarpPlace<Tile> warp;
  if (threadIdx.x == 0) {
    for (Barrier& filled : barriers.filled) filled.expect(32 * copying_warps);
    for (Barrier& emptied : barriers.emptied) emptied.expect(Tile::threads);
  }
  __syncthreads();
  GramSums<Tile> sums = {};
  if (threadIdx.x >= Tile::threads) {
    copy_stages<Tile>(problem, pairs, buffer, barriers);
  } else {
    const StageReader<T, Tile> reader(problem, pairs, warp);
    const Row rows = static_cast<Row>(problem.left.rows);
    const Row stage_rows = static_cast<Row>(problem.stage_rows);
    int stage = 0;
    unsigned round = 0;
    for (Row row = blockIdx.x * stage_rows; row < rows; row += gridDim.x * stage_rows) {
      barriers.filled[stage].wait(round);
      reader.multiply(sums, buffer + stage * problem.stage_places);
      barriers.emptied[stage].arrive();
      if (++stage == Tile::stages) {
        stage = 0;
        ++round;
      }
    }
  }
  write_tile<Tile>(reinterpret_cast<double*>(buffer), sums, warp, problem.partial);
}

}  // namespace block_eigs::cuda
