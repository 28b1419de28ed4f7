#pragma once

#include <optional>
#include <span>

#include "solver/lobpcg/lobpcg.hpp"

namespace block_eigs {

/// The leading options.pairs of `vectors`, nearly orthonormal, with these eigenvalues, in their order, as a
/// result: made orthonormal to `constraints` (null for none; their columns need not be) and to each other, each to
/// those of smaller magnitude, and judged as lobpcg judges. Nothing where not all of them are done. The values are
/// those of who found them: factors of A - sigma B tell values from each other that are much smaller than rounding
/// errors of products with A. Collective; throws as orthonormalize does, and RunError (memory), on all ranks.
template <class T>
std::optional<EigenResult<T>> finished_pairs(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* b,
                                             const LobpcgOptions& options, const DenseBlock<T>& vectors,
                                             std::span<const double> values, const DenseBlock<T>* constraints);

}  // namespace block_eigs
