#pragma once

#include "solver/multigrid/aggregation/local_rows.hpp"
#include "spmm/device/sparse_algebra.hpp"

namespace block_eigs::aggregation {

/// A rank's rows of a level's matrix.
struct RowsOfLevel {
  CsrView<double> matrix;
  const MatrixNumbers& numbers;
  int unknowns = 1;  ///< of a node
};

/// P = (I - omega D^-1 A^F) T, own rows, of a T that has those of ghosts too: A^F is A without its weak couplings,
/// D its max(|d_i|, s_i / 2) and omega 4/3 over Gershgorin's bound of D^-1 A^F. Without
/// `filters`, the same on all ranks, that is A, and nothing is made. `graph` is that of A; `ranks` those of its
/// nodes. Collective.
CsrBuffers<double> smoothed(const RowMoving& by, Neighbourhood& ranks, const RowsOfLevel& level,
                            CouplingGraph graph, bool filters, const CsrView<double>& t);

}  // namespace block_eigs::aggregation
