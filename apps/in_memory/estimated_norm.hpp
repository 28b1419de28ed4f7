#pragma once

#include <memory>

#include "solver/space/block_space.hpp"
#include "spmm/matrix/linear_operator.hpp"

namespace block_eigs {

/// The operator with an estimate in place of a norm that it does not know, by which solvers tell rounding errors:
/// a few steps of the power method, so that it lies below the largest singular value, mostly by little. Not for
/// those who need an upper bound. 8 products with one column. Collective.
template <class T>
std::unique_ptr<LinearOperator<T>> with_estimated_norm(BlockSpace<T>& space,
                                                       std::unique_ptr<LinearOperator<T>> operation);

}  // namespace block_eigs
