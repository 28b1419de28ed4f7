#pragma once

#include "spmm/matrix/distributed_matrix.hpp"

namespace block_eigs {

/// How a matrix of a few thousand rows falls into parts that no entry couples.
struct CoupledParts {
  double largest = 0.0;  ///< rows
  double cubes = 0.0;    ///< sum of the parts' rows cubed
};

/// Of A and B together, B null for the identity. Every rank takes memory for all rows. Collective.
template <class T>
CoupledParts coupled_parts(const DistributedMatrix<T>& a, const DistributedMatrix<T>* b);

}  // namespace block_eigs
