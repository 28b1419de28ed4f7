#pragma once

#include <cstdint>
#include <vector>

#include "io/partition/node_graph.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {

/// For each of `nodes` what the rank that has it in `partition` holds of it, `own` there. Asked for one by one:
/// leave out what is known already. Collective; throws RunError on all ranks where one lacks memory.
std::vector<std::int64_t> values_of(const Communicator& comm, const Partition& partition,
                                    const std::vector<GlobalIndex>& nodes, const std::vector<std::int64_t>& own);

/// A graph's neighbours by numbers of the calling rank: its own nodes, then those of other ranks that these couple
/// with (ghosts). And their values from where they are. Collective, as `update` is; both throw RunError on all
/// ranks where one lacks memory.
class NodeHalo {
 public:
  NodeHalo(const Communicator& comm, const NodeGraph& graph);

  LocalIndex own() const { return own_; }
  LocalIndex size() const { return own_ + static_cast<LocalIndex>(ghosts_.size()); }
  /// Of own node i those at the places of NodeGraph::offsets, in the same order.
  const std::vector<LocalIndex>& neighbours() const { return neighbours_; }
  /// The number that the graph has for a node.
  GlobalIndex node(LocalIndex i) const {
    return i < own_ ? begin_ + i : ghosts_[static_cast<std::size_t>(i - own_)];
  }

  /// Values of own nodes are followed by those of ghosts.
  void update(std::vector<std::int64_t>& values) const;

 private:
  void number_neighbours(const NodeGraph& graph);

  Communicator comm_;
  GlobalIndex begin_ = 0;
  LocalIndex own_ = 0;
  std::vector<LocalIndex> neighbours_;
  std::vector<GlobalIndex> ghosts_;              ///< ascending
  std::vector<std::vector<std::int64_t>> sent_;  ///< own nodes that each rank has as ghosts
};

}  // namespace block_eigs
