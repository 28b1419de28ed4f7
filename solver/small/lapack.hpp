#pragma once

#include <span>
#include <vector>

#include "spmm/small_matrix.hpp"

namespace block_eigs::lapack {

/// Eigenvalues ascending of a symmetric matrix (lower triangle read); its eigenvectors replace it. LAPACK
/// dsyevd, dsteqr's dsyev where that fails. Throws NumericalError when both fail, or values are not finite.
std::vector<double> symmetric_eigen(SmallMatrix& matrix);

/// Eigenvalues ascending of the symmetric tridiagonal matrix with this diagonal and, from the first row on, these
/// entries beside it, of which those beyond the last row do not count. Throws as symmetric_eigen.
std::vector<double> tridiagonal_eigenvalues(std::span<const double> diagonal, std::span<const double> beside);

/// Lower Cholesky factor in place, upper triangle zeroed. Returns false on a pivot that is not positive.
bool cholesky(SmallMatrix& matrix);

/// matrix = inverse(lower) * matrix, or inverse(lower)^T * matrix.
void solve_lower(const SmallMatrix& lower, SmallMatrix& matrix);
void solve_lower_transposed(const SmallMatrix& lower, SmallMatrix& matrix);

/// matrix = inverse(lower) * matrix * inverse(lower)^T
void divide_by_factor(const SmallMatrix& lower, SmallMatrix& matrix);

/// x = inverse(matrix) x by Gaussian elimination, which destroys the matrix. False where a pivot is zero, x then
/// being as it was or not.
bool solve(SmallMatrix& matrix, SmallMatrix& x);
bool solve(SmallMatrix& matrix, std::vector<double>& x);

/// op(a) * op(b)
SmallMatrix product(const SmallMatrix& a, bool transpose_a, const SmallMatrix& b, bool transpose_b);

/// Orthonormal rows that span the rows of `matrix` (rows <= cols), from its LQ factorisation.
SmallMatrix orthonormal_rows(SmallMatrix matrix);

/// Lowest `count` eigenpairs of the symmetric-definite pencil (a, b), all columns of the result b-orthonormal;
/// `b` without rows stands for the identity. Both are destroyed. Returns the eigenvalues; throws InputError when b
/// is not positive definite, NumericalError where values are not finite.
std::vector<double> lowest_eigenpairs(SmallMatrix& a, SmallMatrix& b, int count, SmallMatrix& vectors);

}  // namespace block_eigs::lapack
