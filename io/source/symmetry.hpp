#pragma once

#include "spmm/matrix/csr_rows.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {

/// The row of the calling rank in which a square matrix differs most from its transpose.
struct AsymmetricRow {
  double deviation = 0.0;
  GlobalIndex row = -1;  ///< -1 where none deviates
};

/// Every row is looked at, none by chance. Where a_ji is on the calling rank too, the two are compared:
/// sum_j |a_ij - a_ji| against sum_j |a_ij| + |a_ji|, j != i. Those of other ranks are probed with a random x, one
/// for all: their part of row i of (A - A^T) x takes the place of the differences, the absolute values of its
/// terms that of the sizes. `rows` are the calling rank's, sorted, without duplicates. Collective.
AsymmetricRow most_asymmetric_row(const Communicator& comm, const Partition& partition, const CsrRows& rows);

/// The largest deviation of all ranks' rows. Collective.
double asymmetry(const Communicator& comm, const Partition& partition, const CsrRows& rows);

}  // namespace block_eigs
