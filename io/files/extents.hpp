#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace block_eigs {

/// Whether a file may say `count` rows or columns: beyond 2^59 sums with one and numbers of bytes would overflow.
constexpr bool is_extent(std::int64_t count) { return count >= 0 && count <= (std::int64_t{1} << 59); }

/// Elements of an array with these extents, none of them negative; -1 where their bytes, `width` each, are too
/// many for 63 bits.
constexpr std::int64_t element_count(std::span<const std::int64_t> extents, std::int64_t width) {
  if (std::ranges::count(extents, 0) > 0) return 0;
  std::int64_t bytes = std::max<std::int64_t>(width, 1);
  for (const std::int64_t extent : extents) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return -1;
  }
  return bytes / std::max<std::int64_t>(width, 1);
}

}  // namespace block_eigs
