#pragma once

#include "spmm/small_matrix.hpp"

namespace block_eigs {

/// Beyond so many rows of a pencil a step of refinement for every pair takes longer than all else, and is left to
/// a few.
inline constexpr int most_rows_of_refined_pencils = 600;

/// b-orthonormal vectors of the `count` smallest eigenvalues of the symmetric pencil (a, b), b positive definite,
/// or without rows for the identity; in their order. They are as near to the matrices as these rather than a
/// solver's errors let them be: where the reduction has left more than rounding errors of a x and b x, and than
/// `enough` |theta| |b x|, vectors of up to most_rows_of_refined_pencils rows are refined, and some of the lowest
/// of longer ones (see refine_pencil). A solver's values are known to n epsilon ||a||. Where that hides values
/// that a few rows of another size have, those to be had are told by Rayleigh quotients: of all vectors whose
/// values are not told apart from the last wanted one, the smallest, as long as that makes a difference of
/// `tolerance` of it (with b up to as many rows). Throws InputError when b is not positive definite,
/// NumericalError where values are not finite.
SmallMatrix lowest_dense_vectors(const SmallMatrix& a, const SmallMatrix& b, int count, double tolerance,
                                 double enough = 0.0);

}  // namespace block_eigs
