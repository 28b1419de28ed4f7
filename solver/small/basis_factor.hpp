#pragma once

#include <optional>

#include "spmm/small_matrix.hpp"

namespace block_eigs {

/// The Cholesky factor [I 0; C L] of the Gram matrix of a basis, whose leading columns are orthonormal: mostly two
/// thirds of an iteration's basis are, and of the work with the factor no more than a third is left then.
struct BasisFactor {
  SmallMatrix beside;  ///< C, a column for each of the leading ones; without columns where there are none
  SmallMatrix lower;   ///< L

  int known() const { return beside.cols(); }
};

/// Of a symmetric matrix, which is taken for I where its leading part is just that. Nothing where it is not
/// positive definite, or a squared pivot is less than `smallest_pivot`.
std::optional<BasisFactor> factor_basis(const SmallMatrix& gram, double smallest_pivot);

/// The lower triangle of F^-1 A F^-T, F the factor and A symmetric.
void divide_by_factor(const BasisFactor& factor, SmallMatrix& matrix);

/// x = F^-T x
void solve_transposed(const BasisFactor& factor, SmallMatrix& x);

}  // namespace block_eigs
