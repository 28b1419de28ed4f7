#pragma once

#include <vector>

#include "io/partition/node_graph.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// Throws InputError where this build cannot partition graphs. Not collective, the same on all ranks.
void require_graph_partitioner();

/// For every own node the rank that is to own it: about the same weight for every rank, few arcs between ranks. By
/// PT-Scotch (C. Chevalier, F. Pellegrini, Parallel Computing 34, 2008): multilevel recursive bisection, by all
/// ranks, with a fixed seed: the same owners every time, for the same number of ranks. Weights alone decide where
/// there are no arcs. Collective; throws InputError where the graph is larger than the library counts, RunError
/// where that fails.
std::vector<int> graph_owners(const Communicator& comm, const NodeGraph& graph);

}  // namespace block_eigs
