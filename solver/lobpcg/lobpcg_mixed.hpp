#pragma once

#include "solver/lobpcg/float_operators.hpp"
#include "solver/lobpcg/lobpcg.hpp"

namespace block_eigs {

/// lobpcg for B = identity that begins in float: half the memory traffic and twice the arithmetic an iteration.
/// The recursion of residuals in float follows the eigenvectors further down than the vectors themselves are
/// exact; lobpcg in double takes over vectors and search directions, removes the rounding errors, which a good
/// preconditioner does in an iteration or two, goes on to the tolerance and verifies as always. So results are as
/// accurate as lobpcg's.
///
/// Arguments otherwise, result and errors as lobpcg's; iterations and history count both kinds. Where the block
/// does not hold all pairs, or the problem is solved densely, all is done in double. Collective.
EigenResult<double> lobpcg_mixed(BlockSpace<double>& space, LinearOperator<double>& a,
                                 LinearOperator<double>* preconditioner, const FloatOperators& in_float,
                                 const DenseBlock<double>* constraints, DenseBlock<double> initial,
                                 const LobpcgOptions& options, const Observer& observer = {},
                                 const Proceed& proceed = {}, Checkpoint* checkpoint = nullptr);

}  // namespace block_eigs
