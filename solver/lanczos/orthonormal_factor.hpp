#pragma once

#include "solver/space/block_space.hpp"
#include "spmm/small_matrix.hpp"

namespace block_eigs {

/// W = Q R, Q^T B Q = I to six digits at the least, for columns that may depend on each other or be of very
/// different length: Q, which takes the place of the leading columns of W, gets what stands out first, and the
/// next of what is left when that is taken away, which rounding errors of one Gram matrix would hide (SVQB of
/// Stathopoulos and Wu, SIAM J. Sci. Comput. 23, 2002, without giving up what it cannot tell). What is left out is
/// as small as rounding errors of the largest. `bw` holds B W and becomes B Q; pass bw = w and no b where B is the
/// identity. Returns the columns of Q; R has as many rows. Collective; throws NumericalError on all ranks where
/// values are not finite.
template <class T>
LocalIndex orthonormal_factor(BlockSpace<T>& space, LinearOperator<T>* b, BlockView<T> w, BlockView<T> bw,
                              SmallMatrix& r);

}  // namespace block_eigs
