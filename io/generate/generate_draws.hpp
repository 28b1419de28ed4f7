#pragma once

#include <cstdint>

#include "spmm/scatter_bits.hpp"
#include "spmm/types.hpp"

namespace block_eigs {

/// Random numbers by counter: pure functions of (seed, i, j), the same on every rank.
inline std::uint64_t draw_bits(std::uint64_t seed, GlobalIndex i, GlobalIndex j) {
  const std::uint64_t row =
      scatter_bits(scatter_bits(seed + golden_step) + golden_step * static_cast<std::uint64_t>(i + 1));
  return scatter_bits(row + golden_step * static_cast<std::uint64_t>(j + 1));
}

/// Uniform in [0, 1), 53 bits.
inline double draw_unit(std::uint64_t seed, GlobalIndex i, GlobalIndex j) {
  return static_cast<double>(draw_bits(seed, i, j) >> 11) * 0x1p-53;
}

/// Uniform in [-1, 1).
inline double draw_signed(std::uint64_t seed, GlobalIndex i, GlobalIndex j) {
  return 2.0 * draw_unit(seed, i, j) - 1.0;
}

/// Uniform in 0 .. bound - 1, 0 < bound <= 2^60; the bias is below bound / 2^64.
inline GlobalIndex draw_below(std::uint64_t seed, GlobalIndex i, GlobalIndex j, GlobalIndex bound) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<GlobalIndex>((static_cast<Wide>(draw_bits(seed, i, j)) * static_cast<std::uint64_t>(bound)) >>
                                  64);
}

}  // namespace block_eigs
