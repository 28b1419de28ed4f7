#pragma once

#include <cstdint>

#include "solver/multigrid/amg.hpp"
#include "spmm/matrix/dense_block.hpp"

namespace block_eigs {

/// Approximate eigenvectors of the finest matrix for its smallest eigenvalues, to start from: those of a coarse
/// level, refined level by level by a few iterations of LOBPCG with the cycle below it, interpolated and smoothed
/// (nested iteration, or full multigrid). Coarse masses P^T P are taken as the identity. Own rows of n x
/// `columns`, random numbers from `seed`. Without columns where there is no level between the finest and the
/// coarsest, where none of these has enough rows, and where LOBPCG fails there with an error that all ranks have.
/// Collective.
template <class T>
DenseBlock<T> nested_iteration(Amg<T>& amg, LocalIndex columns, std::uint64_t seed);

}  // namespace block_eigs
