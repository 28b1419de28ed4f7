#pragma once

#include "solver/lobpcg/lobpcg.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/matrix/linear_operator.hpp"

namespace block_eigs {

/// Whether what is left of the residuals of the pairs that have not converged lies along B times the constraints,
/// all but a tenth: vectors that are B-orthogonal to these take nothing off it, so that no iteration will.
/// Constraints that are near an invariant subspace leave nothing of the kind. False where there are none.
/// Collective.
template <class T>
bool held_by_constraints(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* b,
                         const DenseBlock<T>& constraints, const EigenResult<T>& result);

/// What to tell users of it.
constexpr const char* held_by_constraints_remark =
    "what is left of the residuals lies along the constraints, which are not near eigenvectors";

}  // namespace block_eigs
