#include "spmm/cuda/runtime/early_launch.hpp"

#include "spmm/cuda/runtime/early_launch.cuh"

namespace block_eigs::cuda {

namespace {

__global__ void any_kernel() {}

}  // namespace

bool can_launch_early() {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, any_kernel), "look at a kernel");
  return attributes.ptxVersion >= 90;
}

}  // namespace block_eigs::cuda
