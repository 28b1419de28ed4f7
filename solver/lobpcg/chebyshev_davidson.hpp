#pragma once

#include <utility>

#include "solver/lobpcg/lobpcg.hpp"

namespace block_eigs {

/// Some smallest or largest eigenpairs of A, whose norm_inf() is known, by block Chebyshev-Davidson iteration
/// (Zhou, J. Comput. Phys. 229, 2010) without a preconditioner: products with A and little else, for matrices
/// whose rows are of one size. What filters leave undone LOBPCG finishes; the final check, the dense solver for
/// small problems, arguments, result and errors are lobpcg's. The block holds all pairs, else windows are filtered
/// one after the other. Memory beside lobpcg's: the basis, davidson_shape(block_width(options), n).capacity
/// columns. Collective.
template <class T>
EigenResult<T> chebyshev_davidson(BlockSpace<T>& space, LinearOperator<T>& a, const DenseBlock<T>* constraints,
                                  DenseBlock<T> initial, LobpcgOptions options, const Observer& observer = {},
                                  const Proceed& proceed = {}, Checkpoint* checkpoint = nullptr) {
  options.filtered_start = options.filter_basis = true;
  return lobpcg<T>(space, a, nullptr, nullptr, constraints, std::move(initial), options, observer, proceed,
                   checkpoint);
}

}  // namespace block_eigs
