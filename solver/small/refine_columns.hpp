#pragma once

#include <vector>

#include "spmm/small_matrix.hpp"

namespace block_eigs {

/// Eigenvectors of the symmetric matrix a, columns of length one with these values, whose residuals are large
/// beside both the value and what rounding errors of a x come to, by the norm: those of zeros, mostly. Ascending.
std::vector<int> poor_columns(const SmallMatrix& a, const std::vector<double>& values, const SmallMatrix& vectors);

/// Refines these and those of orthonormal `vectors` whose values, ascending, are not told apart from theirs
/// (refine_pencil, with `shifts`): what a solver's own errors have left comes down to rounding errors of a x. The
/// others stay as they are, and cost next to nothing.
void refine_columns(const SmallMatrix& a, const std::vector<double>& values, SmallMatrix& vectors, int shifts);

}  // namespace block_eigs
