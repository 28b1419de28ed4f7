#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

namespace block_eigs::aggregation {

/// Memory of large arrays in large pages where the system gives them on request: touching a gigabyte page by page
/// for the first time takes longer than the products that fill it. Elements start undefined.
template <class T>
struct LargePages {
  using value_type = T;

  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) noexcept {}

  T* allocate(std::size_t count) {
    constexpr std::size_t page = std::size_t{1} << 21;
    const std::size_t bytes = count * sizeof(T);
    void* memory = nullptr;
    if (bytes < 2 * page) {
      memory = std::malloc(bytes);
    } else {
      const std::size_t whole = (bytes + page - 1) / page * page;
      memory = std::aligned_alloc(page, whole);
      // Advice: where it is not taken, pages are small.
      if (memory != nullptr) static_cast<void>(madvise(memory, whole, MADV_HUGEPAGE));
    }
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) noexcept { std::free(memory); }

  template <class U>
  void construct(U* place) noexcept {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
  }

  template <class U>
  bool operator==(const LargePages<U>&) const noexcept {
    return true;
  }
};

}  // namespace block_eigs::aggregation
