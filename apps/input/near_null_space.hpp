#pragma once

#include "apps/config/config.hpp"
#include "io/partition/row_order.hpp"
#include "spmm/matrix/grid_levels.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {

/// How many consecutive rows of A belong to one node as `config` sees it: from the coordinates, where they are
/// given or the matrix is generated with them; 1 for other preconditioners than amg. Throws InputError where that
/// does not fit `rows`. Collective.
int unknowns_per_node(const Communicator& comm, const PreconditionerConfig& config, const MatrixConfig& matrix,
                      GlobalIndex rows);

/// What coarse levels must represent, for the calling rank's rows: vectors from a file, the rigid-body modes where
/// coordinates are known, else nothing, which stands for the constant. Collective; throws InputError.
NearNullSpace read_near_null_space(const Communicator& comm, const PreconditionerConfig& config,
                                   const MatrixConfig& matrix, const Partition& partition,
                                   const RowOrder* order = nullptr);

}  // namespace block_eigs
