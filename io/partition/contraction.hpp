#pragma once

#include <vector>

#include "io/partition/node_graph.hpp"
#include "io/partition/node_halo.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// A graph whose nodes are the clusters of another one: they weigh what their nodes weigh together, and arcs
/// between them what all arcs between their nodes do.
struct Contraction {
  NodeGraph graph;
  std::vector<GlobalIndex> node_of;  ///< of own nodes of the other graph
};

/// `labels` of own nodes and of ghosts are nodes of `graph`: those with the same one are a cluster, which belongs
/// to the rank of its label. Collective; throws RunError on all ranks where one lacks memory.
Contraction contracted(const Communicator& comm, const NodeGraph& graph, const NodeHalo& halo,
                       const std::vector<GlobalIndex>& labels);

}  // namespace block_eigs
