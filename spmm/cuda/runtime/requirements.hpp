#pragma once

#include <string>

// What a GPU must be, apart from the calls that ask it, so that the refusals can be tested anywhere.
namespace block_eigs::cuda {

struct ComputeCapability {
  int major = 0;
  int minor = 0;
};

/// FP64 tensor cores and asynchronous copies into shared memory came with it.
constexpr ComputeCapability oldest_supported{8, 0};

/// Throws InputError that names what is needed and what there is, unless `found` GPUs are enough. `why` is what
/// the driver said, may be empty.
void require_gpu(int found, const std::string& why);

/// Throws InputError likewise where the GPU is older than `oldest_supported`.
void require_capability(int ordinal, const std::string& gpu, ComputeCapability found);

}  // namespace block_eigs::cuda
