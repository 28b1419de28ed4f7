#pragma once

#include <cstdint>
#include <vector>

#include "io/partition/node_graph.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {

/// For each rank the nodes of others that its own couple with, if own node i went to rank owners[i]. Collective.
std::vector<std::int64_t> ghosts_of(const Communicator& comm, const NodeGraph& graph,
                                    const std::vector<int>& owners);

/// For every own node the rank that is to own it: about the same weight for every rank, few ghosts. By
/// graph_owners, or cluster_owners where there are hubs; and as `in_order` deals the nodes where they find nothing
/// with fewer ghosts, on the rank that has most of them and on all together. The same every time, for the same
/// number of ranks. Collective; throws as graph_owners does.
std::vector<int> cut_graph(const Communicator& comm, const NodeGraph& graph, const Partition& in_order);

}  // namespace block_eigs
