#include "spmm/cuda/runtime/requirements.hpp"

#include "spmm/error.hpp"

namespace block_eigs::cuda {

namespace {

std::string text(ComputeCapability capability) {
  return std::to_string(capability.major) + "." + std::to_string(capability.minor);
}

}  // namespace

void require_gpu(int found, const std::string& why) {
  if (found > 0) return;
  throw InputError("device cuda: an NVIDIA GPU of compute capability " + text(oldest_supported) +
                   " or newer is needed, this process sees none" + (why.empty() ? "" : " (" + why + ")") +
                   "; use device: host or device: auto");
}

void require_capability(int ordinal, const std::string& gpu, ComputeCapability found) {
  const bool enough = found.major != oldest_supported.major ? found.major > oldest_supported.major
                                                            : found.minor >= oldest_supported.minor;
  if (enough) return;
  throw InputError("device cuda: compute capability " + text(oldest_supported) + " or newer is needed, GPU " +
                   std::to_string(ordinal) + " (" + gpu + ") has " + text(found) + "; use device: host");
}

}  // namespace block_eigs::cuda
