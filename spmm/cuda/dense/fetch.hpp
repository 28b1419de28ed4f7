#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace block_eigs::cuda {

/// to[0 .. count) = from[0 .. count) from page-locked host memory, by a kernel: for few numbers that the next
/// kernel waits for. A stream takes some 10 us longer over a copy, before it, for it and after it. Both begin at a
/// multiple of 16 bytes and have room for an even count.
void fetch(cudaStream_t stream, const double* from, double* to, std::size_t count);

}  // namespace block_eigs::cuda
