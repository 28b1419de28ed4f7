#pragma once

#include <vector>

#include "solver/small/tridiagonal.hpp"
#include "spmm/small_matrix.hpp"

namespace block_eigs {

/// The smallest eigenvalues of a symmetric matrix A with their vectors, and the space beside them.
struct LowestEigenpairs {
  std::vector<double> values;  ///< ascending
  SmallMatrix vectors;         ///< orthonormal, one a column
  SmallMatrix others;          ///< orthonormal columns that span what is orthogonal to these vectors
  Tridiagonal projected;       ///< others^T A others
};

/// The `count` smallest ones, of the number of rows at most; the lower triangle of `a` is read. Tridiagonal by
/// reflections, then QL with implicit shifts, which are the wanted eigenvalues themselves, so that mostly one or
/// two sweeps are enough for each and none is made for those that nobody asks for. All of it is orthogonal, close
/// eigenvalues are like any others. Takes LAPACK's way where that is faster, or where sweeps do not come to an
/// end. Throws NumericalError where values are not finite.
LowestEigenpairs lowest_eigenpairs(SmallMatrix a, int count);

}  // namespace block_eigs
