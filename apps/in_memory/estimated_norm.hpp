#pragma once

#include <memory>

#include "solver/space/block_space.hpp"
#include "spmm/matrix/linear_operator.hpp"

namespace block_eigs {

/// The operator with a norm_scale() where it knows none: by a few steps of the power method, so that it lies below
/// the largest singular value, mostly by little. 8 products with one column. Collective.
template <class T>
std::unique_ptr<LinearOperator<T>> with_estimated_norm(BlockSpace<T>& space,
                                                       std::unique_ptr<LinearOperator<T>> operation);

}  // namespace block_eigs
