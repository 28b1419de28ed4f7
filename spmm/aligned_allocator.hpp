#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace block_eigs {

/// Memory that begins at a cache line. Vectorised libraries add in another order where data lie differently in
/// memory, and the same numbers would give other bits.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t alignment{64};

  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>& /*other*/) {}

  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), alignment)); }
  void deallocate(T* memory, std::size_t /*count*/) { ::operator delete(memory, alignment); }

  friend bool operator==(const AlignedAllocator&, const AlignedAllocator&) { return true; }
};

template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

}  // namespace block_eigs
