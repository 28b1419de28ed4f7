#pragma once

#include <memory>

#include "solver/factors/factorization.hpp"
#include "spmm/matrix/linear_operator.hpp"
#include "spmm/parallel/context.hpp"

namespace block_eigs::factors {

/// sign (A - sigma B)^-1 of the sigma that `factors` were made for last, on blocks of `rows` rows of the calling
/// rank: positive definite where all pivots have that sign, +1 or -1. It works on the host in double; from a GPU
/// blocks travel there and back. Its apply throws RunError on all ranks where MUMPS fails. Not collective.
template <class T>
std::unique_ptr<LinearOperator<T>> make_operator(const Context<T>& context, std::shared_ptr<Factorization> factors,
                                                 LocalIndex rows, double sign);

}  // namespace block_eigs::factors
