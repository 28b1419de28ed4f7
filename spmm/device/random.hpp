#pragma once

#include <cstdint>

#include "spmm/scatter_bits.hpp"

namespace block_eigs {

/// Uniform in [-1, 1) on multiples of 2^-52 in double, of 2^-23 in float: element (row, column) of the random
/// block `seed`. Counter-based, so that it depends neither on the ranks nor on the order of evaluation.
template <class T>
constexpr T random_element(std::uint64_t seed, std::int64_t row, std::int32_t column) {
  const std::uint64_t row_key = scatter_bits(seed + golden_step * (static_cast<std::uint64_t>(row) + 1));
  const std::uint64_t bits =
      scatter_bits(row_key + 0xd1342543de82ef95ULL * (static_cast<std::uint64_t>(column) + 1));
  if constexpr (sizeof(T) == 8) {
    return static_cast<T>(static_cast<std::int64_t>(bits >> 11) - (std::int64_t{1} << 52)) * T(0x1p-52);
  } else {
    return static_cast<T>(static_cast<std::int32_t>(bits >> 40) - (std::int32_t{1} << 23)) * T(0x1p-23);
  }
}

}  // namespace block_eigs
