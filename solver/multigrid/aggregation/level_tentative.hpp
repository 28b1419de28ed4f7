#pragma once

#include "solver/multigrid/aggregation/local_rows.hpp"

namespace block_eigs::aggregation {

/// The near-null space of a level in device memory: row-major [own rows][modes].
struct ModesOfRows {
  const Buffer<double>& vectors;
  int modes;
  int unknowns;  ///< rows a node
};

struct TentativeRows {
  LocalRows interpolation;  ///< own rows; columns are those of aggregates that they belong to
  Buffer<double> coarse;    ///< row-major [own aggregates * modes][modes]
};

/// SparseAlgebra::tentative with aggregates that reach across ranks: the rank of its root factors one, with the
/// rows of its own nodes first, then those of others as they come. `rows` and `coarse` are how the rows of the
/// level and the columns of T are dealt. Collective; what it throws is OnAllRanks.
TentativeRows tentative_rows(const RowMoving& by, AggregateMap map, const ModesOfRows& of, const Partition& rows,
                             const Partition& coarse);

}  // namespace block_eigs::aggregation
