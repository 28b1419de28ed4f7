#pragma once

#include <cstdint>

namespace block_eigs::cuda {

/// Where kernels write the numbers that the host waits for, and how they say that all of them are there.
/// Page-locked host memory, but for `arrived`.
struct HandOver {
  double* results = nullptr;
  std::uint64_t* done = nullptr;  ///< becomes `ticket` once the results are complete
  std::uint64_t ticket = 0;
  unsigned* arrived = nullptr;  ///< thread blocks that are done, in device memory; 0 between launches
};

}  // namespace block_eigs::cuda
