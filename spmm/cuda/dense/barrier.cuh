#pragma once

#include <cstdint>

namespace block_eigs::cuda {

/// A barrier in shared memory at which some threads arrive and others wait (mbarrier of PTX). It goes through
/// phases, numbered from 0: one ends when all expected arrivals have come.
class Barrier {
 public:
  /// By one thread, with a block-wide barrier between this and the first use.
  __device__ void expect(unsigned arrivals) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address()), "r"(arrivals) : "memory");
  }

  __device__ void arrive() {
    asm volatile("{\n.reg .b64 state;\nmbarrier.arrive.shared.b64 state, [%0];\n}" ::"r"(address()) : "memory");
  }

  /// Arrives once the copies that this thread has started so far have.
  __device__ void arrive_after_copies() {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(address()) : "memory");
  }

  /// Waits for the end of a phase, the present one or the one before.
  __device__ void wait(unsigned phase) {
    while (!is_over(phase)) {
    }
  }

 private:
  __device__ std::uint32_t address() { return static_cast<std::uint32_t>(__cvta_generic_to_shared(&state_)); }

  __device__ bool is_over(unsigned phase) {
    std::uint32_t over;
#if __CUDA_ARCH__ >= 900
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(over)
                 : "r"(address()), "r"(phase % 2)
                 : "memory");
#else
    asm volatile("{\n.reg .pred p;\nmbarrier.test_wait.parity.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(over)
                 : "r"(address()), "r"(phase % 2)
                 : "memory");
#endif
    return over != 0;
  }

  std::uint64_t state_;
};

}  // namespace block_eigs::cuda
