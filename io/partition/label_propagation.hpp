#pragma once

#include <cstdint>
#include <vector>

#include "io/partition/node_graph.hpp"
#include "io/partition/node_halo.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {

/// What labels there are, and how much each may weigh.
struct LabelRules {
  Partition labels;     ///< numbers of labels, dealt to the ranks that keep their weights
  Offset capacity = 0;  ///< largest weight of a label's nodes that others may join
  int sweeps = 0;       ///< times that every node is looked at
};

/// Size-constrained label propagation (H. Meyerhenke, P. Sanders, C. Schulz, "Parallel graph partitioning for
/// complex networks", IEEE TPDS 28, 2017): nodes go over to the label that they are coupled with most, while there
/// is room for them. `labels` has those of own nodes and of ghosts. No label grows beyond the capacity, and those
/// above it do not grow. The same on as many ranks with the same partition. Collective; throws RunError on all
/// ranks where one lacks memory.
void propagate_labels(const Communicator& comm, const NodeGraph& graph, const NodeHalo& halo,
                      const LabelRules& rules, std::vector<GlobalIndex>& labels);

}  // namespace block_eigs
