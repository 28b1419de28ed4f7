#pragma once

#include "solver/block_cg/bcgrq_blocks.hpp"

namespace block_eigs::bcgrq {

/// BCGrQ to `tolerance` on up to `width` right-hand sides at a time. Collective; throws RunError on all ranks
/// (memory).
template <class T>
BlockSolver<T> plain_solver(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* preconditioner,
                            double tolerance, LocalIndex width);

/// The same after rounds of iterations in float: see block_cg_mixed, BlockCgOptions::float_is_extra. Collective;
/// throws what plain_solver throws.
BlockSolver<double> mixed_solver(BlockSpace<double>& space, LinearOperator<double>& a,
                                 LinearOperator<double>* preconditioner, LinearOperator<float>& a_float,
                                 LinearOperator<float>* preconditioner_float, double tolerance, LocalIndex width,
                                 bool float_is_extra);

}  // namespace block_eigs::bcgrq
