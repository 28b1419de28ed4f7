#pragma once

#include "solver/space/block_space.hpp"
#include "spmm/types.hpp"

namespace block_eigs {

/// How far orthonormalize has to go.
enum class Orthonormality {
  to_rounding,      ///< until a pass finds nothing left to do
  well_conditioned  ///< until the Gram matrix is close enough to I for the caller to correct it exactly
};

/// Makes the columns of w orthonormal, and orthogonal to `against` (at most three orthonormal blocks), in the
/// inner product x^T B y. `bw` holds B w and is carried along by the same coefficients, or computed anew by `b`
/// where these amplify its rounding errors; where B is the identity, pass bw = w. Directions that depend on the
/// others within rounding are dropped, all of them where passes do not come to an end: the others come first.
/// Returns how many. Collective; throws NumericalError on values that are not finite and InputError when w^T B w <
/// 0 at first, beyond rounding. `products` holds [against w]^T bw where that is known already.
///
/// One pass is Gram matrix + Cholesky QR of the part orthogonal to `against`; after a bad pivot SVQB
/// (Stathopoulos and Wu, SIAM J. Sci. Comput. 23, 2002) and another pass, as in Duersch, Shao, Yang, Gu,
/// SIAM J. Sci. Comput. 40, 2018.
template <class T>
LocalIndex orthonormalize(BlockSpace<T>& space, const ConstBlockList<T>& against, BlockView<T> w, BlockView<T> bw,
                          const ConstBlockList<T>& b_against, Orthonormality goal, LinearOperator<T>* b = nullptr,
                          const SmallMatrix* products = nullptr);

}  // namespace block_eigs
