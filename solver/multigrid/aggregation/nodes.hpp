#pragma once

#include <utility>
#include <vector>

#include "solver/multigrid/aggregation/column_numbers.hpp"
#include "solver/multigrid/aggregation/row_exchange.hpp"
#include "spmm/matrix/csr_rows.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/halo_plan.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs::aggregation {

/// The nodes, of some consecutive rows each, that the rows of this rank refer to: own ones, then ghosts; and how
/// ghosts get what their owners know.
struct Nodes {
  int unknowns = 1;  ///< rows a node
  ColumnNumbers numbers;
  HaloPlan plan;

  LocalIndex own() const { return numbers.own(); }
  LocalIndex all() const { return numbers.all(); }
  /// Puts the owners' values behind own ones, in place of what was there. T is double or std::int64_t. Collective;
  /// what it throws is OnAllRanks.
  template <class T>
  void refresh(const Communicator& comm, std::vector<T>& values) const {
    values.resize(static_cast<std::size_t>(own()));
    append_ghost_values(comm, plan, 1, values);
  }
};

/// Of `rows`, which begin and end with whole nodes on every rank. Collective; what it throws is OnAllRanks.
Nodes nodes_of(const Communicator& comm, const CsrRows& rows, const Partition& partition, int unknowns);

}  // namespace block_eigs::aggregation
