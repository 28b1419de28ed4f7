#pragma once

#include <vector>

#include "solver/multigrid/aggregation/row_builder.hpp"
#include "spmm/matrix/csr_rows.hpp"
#include "spmm/types.hpp"

namespace block_eigs::aggregation {

/// Nodes with more entries a row than so many times the average of all ranks are hubs.
constexpr double hub_factor = 10.0;

/// Strong couplings between the nodes of this rank, without those of hubs: values hold their strength.
struct StrengthGraph {
  SparseRows<LocalIndex> neighbours;
  std::vector<char> coupled;    ///< whether a node has any strong coupling, those to nodes of other ranks included
  std::vector<LocalIndex> hub;  ///< of a hub itself, else the hub that a node is coupled to the most, -1 for none
};

/// Nodes i and j, of `unknowns_per_node` rows each, are strongly coupled where |A_ij| > threshold
/// sqrt(|A_ii| |A_jj|) in the Frobenius norm (Vanek, Mandel, Brezina, Computing 56, 1996). `rows` begin and end
/// with whole nodes. Nodes with more than `hub_entries` entries a row are hubs. Not collective.
StrengthGraph strength_graph(const CsrRows& rows, int unknowns_per_node, double threshold, double hub_entries);

/// Which aggregate a node belongs to; -1 for nodes without strong couplings, which smoothing alone takes care of.
struct Aggregates {
  std::vector<LocalIndex> of_node;
  std::vector<char> is_hub;
  LocalIndex count = 0;
};

/// Groups of neighbours: whole neighbourhoods first, one after the other where they do not overlap; then what is
/// left joins the neighbour it is coupled to the most (Vanek, Mandel, Brezina, algorithm 5.1). A hub would make an
/// aggregate of a large part of the graph, or couple all those around it: it stays by itself, but for nodes that
/// are coupled to hubs alone. Not collective.
Aggregates aggregate(const StrengthGraph& graph);

}  // namespace block_eigs::aggregation
