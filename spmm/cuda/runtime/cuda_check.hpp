#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

#include "spmm/error.hpp"

namespace block_eigs::cuda {

/// Throws RunError that says what failed and what CUDA says about it.
inline void check(cudaError_t status, std::string_view what) {
  if (status == cudaSuccess) return;
  throw RunError("CUDA: " + std::string(what) + ": " + cudaGetErrorString(status));
}

/// To be called right after a kernel launch. A launch that fails is found here; one that fails while it runs, at
/// the next call that waits.
inline void check_launch(std::string_view kernel) { check(cudaGetLastError(), kernel); }

}  // namespace block_eigs::cuda
