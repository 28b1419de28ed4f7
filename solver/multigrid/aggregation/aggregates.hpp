#pragma once

#include <vector>

#include "solver/multigrid/aggregation/row_builder.hpp"
#include "spmm/matrix/csr_rows.hpp"
#include "spmm/types.hpp"

namespace block_eigs::aggregation {

/// Strong couplings between the nodes of this rank: values hold their strength. `coupled` tells of every node
/// whether it has any at all, those to nodes of other ranks included.
struct StrengthGraph {
  SparseRows<LocalIndex> neighbours;
  std::vector<char> coupled;
};

/// Nodes i and j, of `unknowns_per_node` rows each, are strongly coupled where |A_ij| > threshold
/// sqrt(|A_ii| |A_jj|) in the Frobenius norm (Vanek, Mandel, Brezina, Computing 56, 1996). `rows` begin and end
/// with whole nodes. Not collective.
StrengthGraph strength_graph(const CsrRows& rows, int unknowns_per_node, double threshold);

/// Which aggregate a node belongs to; -1 for nodes without strong couplings, which smoothing alone takes care of.
struct Aggregates {
  std::vector<LocalIndex> of_node;
  LocalIndex count = 0;
};

/// Groups of neighbours: whole neighbourhoods first, one after the other where they do not overlap; then what is
/// left joins the neighbour it is coupled to the most (Vanek, Mandel, Brezina, algorithm 5.1). Not collective.
Aggregates aggregate(const StrengthGraph& graph);

}  // namespace block_eigs::aggregation
