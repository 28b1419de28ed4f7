#pragma once

#include <cuda_runtime.h>

#include <string_view>

#include "spmm/cuda/runtime/cuda_check.hpp"

// Kernels that begin while the one before them in the stream ends (programmatic dependent launch, compute
// capability 9.0 and newer): the end of one and the beginning of the next take some microseconds less.
namespace block_eigs::cuda {

/// At the beginning of a kernel: the next one may begin once all blocks of this one run.
__device__ inline void let_next_begin() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// In a kernel that is launched early, before it touches device memory: all kernels before it are done.
__device__ inline void wait_for_earlier() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

/// Launches a kernel, early where `allowed`: see CudaDevice::launches_early. All its blocks call
/// wait_for_earlier(), or one that waits for this one would not be sure of what came before.
template <class... Parameters>
void launch_early(bool allowed, void (*kernel)(Parameters...), unsigned blocks, dim3 threads, int shared_bytes,
                  cudaStream_t stream, std::string_view name, const Parameters&... parameters) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = threads;
  config.dynamicSmemBytes = static_cast<std::size_t>(shared_bytes);
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = allowed ? 1 : 0;
  check(cudaLaunchKernelEx(&config, kernel, parameters...), name);
}

}  // namespace block_eigs::cuda
