#pragma once

#include "spmm/small_matrix.hpp"

namespace block_eigs {

/// Eigenvectors of the symmetric pencil (a, b), b positive definite, that the reduction by a Cholesky factor of b
/// has left worse than rounding errors of a x and b x (it loses by the condition of b): up to two steps of inverse
/// iteration with (a - theta b), theta the Rayleigh quotient, then b-orthonormalised in order. A step costs 2/3
/// n^3. Columns that are good already stay.
void refine_pencil(const SmallMatrix& a, const SmallMatrix& b, SmallMatrix& vectors);

}  // namespace block_eigs
