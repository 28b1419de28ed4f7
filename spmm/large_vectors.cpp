#include "spmm/large_vectors.hpp"

#include <sys/mman.h>

#include <cstdint>

namespace block_eigs {

void touch_pages(void* memory, std::size_t bytes) {
  constexpr std::size_t page = 4096;
  constexpr std::size_t large_page = std::size_t{2} << 20;
  if (bytes < 2 * large_page) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t first = (begin + large_page - 1) / large_page * large_page;
  const std::uintptr_t last = (begin + bytes) / large_page * large_page;
  madvise(static_cast<char*>(memory) + (first - begin), last - first, MADV_HUGEPAGE);  // a wish that may fail
  const auto pages = static_cast<std::ptrdiff_t>((bytes + page - 1) / page);
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t i = 0; i < pages; ++i) static_cast<char*>(memory)[static_cast<std::size_t>(i) * page] = 0;
}

}  // namespace block_eigs
