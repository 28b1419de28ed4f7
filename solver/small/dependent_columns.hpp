#pragma once

#include <vector>

#include "spmm/small_matrix.hpp"

namespace block_eigs {

/// A vector of which more than this part of its squared length, a tenth of its length, lies along earlier ones is
/// no pair of its own, however small its residual is: a copy of them, as rounding errors make them in the worst
/// case.
inline constexpr double most_along_earlier = 0.01;

/// Which columns of V, meant to be orthogonal, lie that far in the span of those before them, by V^T B V.
std::vector<bool> dependent_columns(const SmallMatrix& gram);

}  // namespace block_eigs
