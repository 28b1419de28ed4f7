#pragma once

#include "spmm/small_matrix.hpp"

namespace block_eigs {

/// b-orthonormal eigenvectors of the symmetric pencil (a, b), b positive definite, or without rows for the
/// identity, put in ascending order of their Rayleigh quotients, that a dense solver has left worse than rounding
/// errors of a x and b x, |a| |x| and |b| |x| (the reduction by a Cholesky factor loses by the condition of b, and
/// all of them by the norm of a where its rows differ in size), and than `tolerance` |theta| |b x|: up to ten
/// steps of inverse iteration with (a - theta b) and Rayleigh-Ritz (Parlett, The Symmetric Eigenvalue Problem,
/// sections 4.9 and 11.4), as long as three of them halve the largest residual of the first `wanted`, and
/// two without Rayleigh-Ritz, which spreads rounding errors of large values over all vectors. Vectors whose
/// Rayleigh quotients theta agree within rounding share one shift, so that they stay apart. Of `shifts` in all,
/// the lowest first; each costs 2/3 n^3.
void refine_pencil(const SmallMatrix& a, const SmallMatrix& b, SmallMatrix& vectors, int wanted, double tolerance,
                   int shifts);

}  // namespace block_eigs
