#pragma once

#include "spmm/matrix/csr_rows.hpp"
#include "spmm/matrix/grid_levels.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {

struct AggregationOptions {
  /// Couplings weaker than this, against the diagonal, do not join unknowns into an aggregate; halved level by
  /// level.
  double threshold = 0.08;
  GlobalIndex coarse_rows = 400;    ///< levels end when there are no more than that
  GlobalIndex rows_per_rank = 300;  ///< levels with fewer move to fewer ranks
  /// Bounds of the stored entries of all levels over those of the finest, and of a level over those of the one
  /// above it: a level that would exceed one of them is not formed.
  double operator_complexity = 2.5;
  double level_growth = 1.0;
};

/// Levels of an algebraic multigrid method by smoothed aggregation (Vanek, Mandel, Brezina, Computing 56, 1996)
/// for a symmetric matrix: neighbourhoods become aggregates, the near-null space restricted to them is
/// interpolation, a step of damped Jacobi smooths it, with the matrix
/// freed of weak couplings, and P^T A P is the next matrix. Aggregates reach across
/// ranks; levels are the same for any number of threads, and to rounding errors for any number of ranks, unless
/// these errors decide between couplings that are equal. Coarsening ends where it does not pay, and the coarsest
/// level says so: where the rows hardly fall, where a level would have more entries than the one above, or all of
/// them together more than allowed. Graphs with hubs fill like that. `rows` are consumed. Made by the host backend
/// as device_levels.hpp says, of rows and for callers in host memory. Collective; throws InputError where the
/// near-null space does not fit.
GridHierarchy smoothed_aggregation(const Communicator& comm, CsrRows rows, const Partition& partition,
                                   const NearNullSpace& near_null_space, const AggregationOptions& options = {});

}  // namespace block_eigs
