#pragma once

#include "spmm/cuda/dense/hand_over.hpp"

namespace block_eigs::cuda {

/// Whether this is the last thread block of the grid to come here; it then sees what all of them wrote to device
/// memory before. To be called by whole blocks, once a launch.
__device__ inline bool is_last_block(unsigned* arrived) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    const unsigned blocks = gridDim.x * gridDim.y;
    last = atomicInc(arrived, blocks - 1) == blocks - 1;  // leaves 0 behind
  }
  __syncthreads();
  __threadfence();
  return last;
}

/// Tells the host that all results are there. To be called by the last block, after all its threads are done. What
/// they wrote before the barrier is covered by the fence of the one thread behind it.
__device__ inline void announce(const HandOver& to) {
  __syncthreads();
  if (threadIdx.x != 0 || threadIdx.y != 0) return;
  __threadfence_system();
  *const_cast<volatile std::uint64_t*>(to.done) = to.ticket;
}

/// The same where several blocks write results.
__device__ inline void announce_with_others(const HandOver& to) {
  __syncthreads();
  if (threadIdx.x != 0 || threadIdx.y != 0) return;
  const unsigned blocks = gridDim.x * gridDim.y;
  __threadfence_system();
  if (atomicInc(to.arrived, blocks - 1) != blocks - 1) return;  // leaves 0 behind
  __threadfence_system();
  *const_cast<volatile std::uint64_t*>(to.done) = to.ticket;
}

}  // namespace block_eigs::cuda
