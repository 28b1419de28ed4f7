#pragma once

#include <cstdint>
#include <vector>

#include "solver/multigrid/aggregation/nodes.hpp"
#include "solver/multigrid/aggregation/row_builder.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs::aggregation {

/// Of two nodes that may not both be chosen, the one with the larger priority is: a one-to-one hash (the finaliser
/// of SplitMix64) of the global number, so that choices depend neither on ranks nor on threads.
std::int64_t priority(GlobalIndex node);

/// A maximal set of own nodes no two of which are neighbours or have a neighbour in common (MIS-2): the one that
/// taking nodes in descending order of priority would give, found in about log(nodes) rounds in which every node
/// looks at its neighbours twice (Bell, Dalton, Olson, SIAM J. Sci. Comput. 34, 2012; Kelley, Rajamanickam,
/// arXiv:2204.02934). `neighbours` has the rows of own nodes, columns in the numbers of `nodes`; nodes
/// that are not among the `candidates`, a flag for each own one, are passed over and are nobody's neighbours.
/// Collective; what it throws is OnAllRanks.
std::vector<char> independent_set(const Communicator& comm, const Nodes& nodes,
                                  const SparseRows<LocalIndex>& neighbours, const std::vector<char>& candidates);

}  // namespace block_eigs::aggregation
