#pragma once

#include <vector>

#include "io/partition/node_graph.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// What graphs with hubs are cut by.
struct ClusterOptions {
  GlobalIndex enough = 20'000;  ///< nodes that PT-Scotch is left with, or 400 a rank where that is more
  int sweeps = 3;               ///< of label propagation that make clusters
  int refining_sweeps = 4;      ///< of that which moves nodes between ranks
};

/// Whether some nodes (one in a thousand, or more) have so many more neighbours than most that a tenth of all arcs
/// are theirs: power laws, as in social networks and the web, never meshes. Collective.
bool has_hubs(const Communicator& comm, const NodeGraph& graph);

/// As graph_owners, for graphs with hubs. Pairing nodes with neighbours, as PT-Scotch does, ends early there,
/// because all have the same few neighbours, and what is left is large, dense, and cut for minutes; and few cut
/// arcs are not few ghosts. So arcs between hubs, which will be ghosts anyway, are left out, others weigh what a
/// cut costs; nodes are put into clusters by size-constrained label propagation, clusters into clusters, PT-Scotch
/// deals those to ranks, and label propagation again moves nodes between ranks on the way back (Meyerhenke,
/// Sanders, Schulz, IEEE TPDS 28, 2017). Empty where clusters do not become fewer. The same on as many ranks.
/// Collective; throws as graph_owners does.
std::vector<int> cluster_owners(const Communicator& comm, const NodeGraph& graph,
                                const ClusterOptions& options = {});

}  // namespace block_eigs
