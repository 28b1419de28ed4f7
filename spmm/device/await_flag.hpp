#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

namespace block_eigs {

/// Waits until a flag in memory that processes share has come to `value`; what was written before it is there
/// then. Whoever is late may wait for something else of this process, or for this core: `meanwhile` is called now
/// and then, and the core offered to others.
template <class Call>
void await_flag(std::uint64_t& flag, std::uint64_t value, const Call& meanwhile) {
  constexpr int looks = 2000;  // some microseconds
  const std::atomic_ref<std::uint64_t> seen(flag);
  for (;;) {
    for (int look = 0; look < looks; ++look) {
      if (seen.load(std::memory_order_acquire) >= value) return;
    }
    meanwhile();
    sched_yield();
  }
}

}  // namespace block_eigs
