#pragma once

#include <vector>

#include "solver/multigrid/aggregation/aggregates.hpp"
#include "spmm/matrix/grid_levels.hpp"

namespace block_eigs::aggregation {

/// Piecewise interpolation: row i has entries in the columns of its aggregate alone, `modes` of them, so that the
/// coarse near-null space is interpolated to the fine one exactly, and the columns are orthonormal.
struct Tentative {
  std::vector<double> values;  ///< row-major [own rows][modes]
  NearNullSpace coarse;        ///< at the aggregates: `modes` unknowns each
};

/// Orthonormal factors of the near-null space aggregate by aggregate. Modes that depend on others within an
/// aggregate (rotations of a single node) get columns of zeros. The rank of its root factors an aggregate, with
/// the members' rows in the order of their numbers: the same bits whatever ranks they lie on. Collective; what it
/// throws is OnAllRanks.
Tentative tentative_interpolation(const Communicator& comm, const Aggregates& aggregates,
                                  const NearNullSpace& fine);

}  // namespace block_eigs::aggregation
