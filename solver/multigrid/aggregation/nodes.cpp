#include "solver/multigrid/aggregation/nodes.hpp"

namespace block_eigs::aggregation {

Nodes nodes_of(const Communicator& comm, const CsrRows& rows, const Partition& partition, int unknowns) {
  Nodes nodes;
  Partition of_nodes;
  comm.collectively([&] {
    std::vector<GlobalIndex> offsets = partition.offsets();
    for (GlobalIndex& offset : offsets) offset /= unknowns;
    of_nodes = Partition(std::move(offsets));
    const GlobalIndex begin = of_nodes.begin(comm.rank());
    const GlobalIndex end = of_nodes.end(comm.rank());
    std::vector<GlobalIndex> others;
    for (const GlobalIndex column : rows.columns) {
      const GlobalIndex node = column / unknowns;
      if (node >= begin && node < end) continue;
      if (others.empty() || others.back() != node) others.push_back(node);
    }
    nodes.unknowns = unknowns;
    nodes.numbers = ColumnNumbers(begin, of_nodes.size(comm.rank()), std::move(others));
  });
  nodes.plan = HaloPlan(comm, of_nodes, nodes.numbers.ghosts());
  return nodes;
}

}  // namespace block_eigs::aggregation
