#pragma once

#include "spmm/matrix/grid_levels.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs::aggregation {

/// A matrix in the making, and what its coarser levels must represent.
struct Stage {
  GridLevel level;
  NearNullSpace space;
};

struct CoarseningOptions {
  double threshold = 0.0;         ///< of strong couplings
  GlobalIndex rows_per_rank = 1;  ///< levels with fewer move to fewer ranks
  double most_entries = 0.0;      ///< of the coarser matrix, over all ranks
};

/// Makes the next coarser stage, and completes `stage.level` with the way to it and back: then
/// CoarseningEnd::none. Else says why it does not pay to go on: hardly fewer rows, or more entries than allowed,
/// which is estimated before the Galerkin product is formed and looked at again after; `next` is not to be used
/// then, and `stage` is as it was. Collective; what it throws is OnAllRanks.
CoarseningEnd coarsen(const Communicator& comm, Stage& stage, const CoarseningOptions& options, Stage& next);

}  // namespace block_eigs::aggregation
