#pragma once

#include <span>
#include <vector>

#include "spmm/matrix/csr_rows.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// The entry of D by which smoothing divides a row with `diagonal` a_ii (or what stands in for it) and the sum of
/// |a_ij| in `sum`: |a_ii|, but half the sum at least. No eigenvalue of D^-1 A is larger than 2 then, by
/// Gershgorin's discs, and a few rows with more beside their diagonal than on it do not slow down the smoothing of
/// all others (l1-Jacobi: Baker, Falgout, Kolev, Yang, SIAM J. Sci. Comput. 33, 2011). Where rows of an M-matrix
/// add up to zero or more it is the diagonal.
double damped_diagonal(double diagonal, double sum);

/// D of a level, and a bound of the eigenvalues of D^-1 A.
struct DampedDiagonal {
  std::vector<double> entries;
  double bound = 0.0;
};

/// Of the matrix with that diagonal (DistributedMatrix::jacobi_diagonal(), say) and these sums. Collective; what
/// it throws is OnAllRanks.
DampedDiagonal damped_diagonal(const Communicator& comm, std::span<const double> diagonal,
                               const std::vector<double>& sums);

}  // namespace block_eigs
