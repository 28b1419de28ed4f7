#pragma once

#include "solver/factors/factorization.hpp"

namespace block_eigs::test {

/// Of a mesh in the plane: n log n entries.
inline constexpr factors::FactorSize small{1e6, 2e6, 2e8};
inline constexpr factors::FactorSize enormous{1e12, 1e11, 1e16};

}  // namespace block_eigs::test
