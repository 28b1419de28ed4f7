#include "io/partition/graph_cut.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>

#include "io/partition/cluster_owners.hpp"
#include "io/partition/graph_owners.hpp"
#include "io/partition/key_numbers.hpp"
#include "io/partition/node_halo.hpp"

namespace block_eigs {

namespace {

std::vector<int> owners_in_order(const Communicator& comm, const Partition& nodes, const Partition& in_order) {
  std::vector<int> owners;
  comm.collectively([&] {
    owners.resize(static_cast<std::size_t>(nodes.size(comm.rank())));
    for (std::size_t i = 0; i < owners.size(); ++i)
      owners[i] = in_order.owner(nodes.begin(comm.rank()) + static_cast<GlobalIndex>(i));
  });
  return owners;
}

/// Whether `one` has fewer ghosts than `other` in all and where there are most, or as many.
bool no_worse(const std::vector<std::int64_t>& one, const std::vector<std::int64_t>& other) {
  const auto all = [](const auto& ghosts) {
    return std::accumulate(ghosts.begin(), ghosts.end(), std::int64_t{0});
  };
  const auto most = [](const auto& ghosts) { return *std::max_element(ghosts.begin(), ghosts.end()); };
  return all(one) <= all(other) && most(one) <= most(other);
}

}  // namespace

std::vector<std::int64_t> ghosts_of(const Communicator& comm, const NodeGraph& graph,
                                    const std::vector<int>& owners) {
  const NodeHalo halo(comm, graph);
  std::vector<std::int64_t> owner;
  comm.collectively([&] { owner.assign(owners.begin(), owners.end()); });
  halo.update(owner);
  std::vector<std::int64_t> ghosts(static_cast<std::size_t>(comm.size()), 0);
  comm.collectively([&] {
    KeyNumbers others;
    for (std::size_t i = 0; i < owners.size(); ++i) {
      others.clear();
      for (Offset k = graph.offsets[i]; k < graph.offsets[i + 1]; ++k) {
        const auto neighbour = static_cast<std::size_t>(halo.neighbours()[static_cast<std::size_t>(k)]);
        if (owner[neighbour] != owner[i]) others.number(owner[neighbour]);
      }
      for (const GlobalIndex rank : others.keys()) ++ghosts[static_cast<std::size_t>(rank)];
    }
  });
  comm.sum(std::span(ghosts));
  return ghosts;
}

std::vector<int> cut_graph(const Communicator& comm, const NodeGraph& graph, const Partition& in_order) {
  std::vector<int> cut = has_hubs(comm, graph) ? cluster_owners(comm, graph) : graph_owners(comm, graph);
  std::vector<int> ordered = owners_in_order(comm, graph.nodes, in_order);
  const bool found = comm.any(!cut.empty());
  if (found && no_worse(ghosts_of(comm, graph, cut), ghosts_of(comm, graph, ordered))) return cut;
  return ordered;
}

}  // namespace block_eigs
