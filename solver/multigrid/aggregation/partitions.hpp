#pragma once

#include <cstdint>

#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs::aggregation {

/// Nodes of `unknowns` consecutive rows, dealt as their rows are.
Partition narrowed(const Partition& rows, int unknowns);

/// `count` rows on the calling rank. Collective.
Partition dealt_by_counts(const Communicator& comm, std::int64_t count);

/// `partition` with neighbouring ranks' rows on the first of them, so that few rows lie on few ranks: about
/// `rows_per_rank` at least.
Partition concentrated(const Partition& partition, GlobalIndex rows_per_rank);

}  // namespace block_eigs::aggregation
