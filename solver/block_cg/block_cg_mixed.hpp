#pragma once

#include "solver/block_cg/block_cg.hpp"

namespace block_eigs {

/// block_cg whose iterations run in float: rounds of iterative refinement (Moler, J. ACM 14, 1967), each of which
/// solves A E = R for the residuals of the solution so far, R computed and X kept in double. Half the memory
/// traffic an iteration. What float cannot do, block CG in double goes on with from there, on what is left of the
/// same budget, and it ends as it always does: with true residuals and the same outcomes. Block of right-hand
/// sides by block: options.max_iterations is the limit of a block in both precisions together.
///
/// `a_float` is A, `preconditioner_float` the preconditioner of the rounds (may be null), on the same rows as
/// `space`. Arguments otherwise, result and errors as block_cg's; iterations and history count both kinds.
/// An operator that is not positive definite in float, or numbers beyond its range, end the rounds; errors are
/// passed on. Holds 5 more blocks of block_size float columns (6 with a preconditioner), made before the first
/// iteration. Collective.
BlockCgResult<double> block_cg_mixed(BlockSpace<double>& space, LinearOperator<double>& a,
                                     LinearOperator<double>* preconditioner, LinearOperator<float>& a_float,
                                     LinearOperator<float>* preconditioner_float, const DenseBlock<double>& f,
                                     DenseBlock<double> initial, const BlockCgOptions& options,
                                     const Observer& observer = {}, const Proceed& proceed = {});

}  // namespace block_eigs
