#pragma once

#include <vector>

#include "solver/multigrid/aggregation/nodes.hpp"
#include "solver/multigrid/aggregation/row_builder.hpp"
#include "spmm/matrix/csr_rows.hpp"
#include "spmm/types.hpp"

namespace block_eigs::aggregation {

/// Nodes with more entries a row than so many times the average of all ranks are hubs.
constexpr double hub_factor = 10.0;

/// Strong couplings between nodes, without those of hubs: values hold their strength.
struct StrengthGraph {
  SparseRows<LocalIndex> neighbours;  ///< of own nodes, in the numbers of all
  std::vector<LocalIndex>
      hub;  ///< of a hub itself, else the hub that an own node is coupled to the most, -1 for none
};

/// Nodes i and j are strongly coupled where |A_ij| > threshold sqrt(|A_ii| |A_jj|) in the Frobenius norm (Vanek,
/// Mandel, Brezina, Computing 56, 1996). Nodes with more than `hub_entries` entries a row are hubs. Collective;
/// what it throws is OnAllRanks.
StrengthGraph strength_graph(const Communicator& comm, const CsrRows& rows, const Nodes& nodes, double threshold,
                             double hub_entries);

/// Which aggregate a node belongs to.
struct Aggregates {
  std::vector<GlobalIndex> of_node;  ///< of own nodes, over all ranks; -1 without strong couplings: smoothing
                                     ///< alone takes care of them
  std::vector<char> is_hub;          ///< of own nodes
  Partition partition;               ///< of the aggregates: each belongs to the rank of its root
};

/// Groups of neighbours: around every root of independent_set() its neighbours; what is left, two steps from a
/// root, joins the aggregate it is coupled to the most. Numbered as their roots are, so that aggregates are the
/// same for any number of ranks and threads. A hub would make an aggregate of a large part of the graph, or couple
/// all those around it: it stays by itself, but for nodes that are coupled to hubs alone. Collective; what it
/// throws is OnAllRanks.
Aggregates aggregate(const Communicator& comm, const Nodes& nodes, const StrengthGraph& graph);

}  // namespace block_eigs::aggregation
