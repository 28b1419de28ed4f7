#include "io/partition/contraction.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>

#include "io/partition/key_numbers.hpp"

namespace block_eigs {

namespace {

using Messages = std::vector<std::vector<std::int64_t>>;

struct Arc {
  GlobalIndex from;
  GlobalIndex to;
  Offset weight;
};

/// Labels of own nodes, each once.
std::vector<GlobalIndex> labels_in_use(const std::vector<GlobalIndex>& labels, LocalIndex own) {
  std::vector<GlobalIndex> used(labels.begin(), labels.begin() + own);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  return used;
}

/// Numbers of clusters by label, for labels of own nodes (-1 for those that nobody has), and how clusters are
/// dealt. Collective.
std::pair<Partition, std::vector<std::int64_t>> number_clusters(const Communicator& comm, const Partition& nodes,
                                                                const std::vector<GlobalIndex>& used) {
  Messages outgoing(static_cast<std::size_t>(comm.size()));
  std::vector<std::int64_t> numbers;
  comm.collectively([&] {
    for (const GlobalIndex label : used) outgoing[static_cast<std::size_t>(nodes.owner(label))].push_back(label);
    numbers.assign(static_cast<std::size_t>(nodes.size(comm.rank())), -1);
  });
  const auto place = [&](GlobalIndex label) { return static_cast<std::size_t>(label - nodes.begin(comm.rank())); };
  for (const auto& list : comm.all_to_all(outgoing)) {
    for (const GlobalIndex label : list) numbers[place(label)] = 0;
  }
  GlobalIndex count = 0;
  for (std::int64_t& number : numbers) number = number < 0 ? -1 : count++;
  std::vector<GlobalIndex> offsets{0};
  for (const GlobalIndex size : comm.all_gather(count)) offsets.push_back(offsets.back() + size);
  Partition clusters(std::move(offsets));
  for (std::int64_t& number : numbers) number += number < 0 ? 0 : clusters.begin(comm.rank());
  return {std::move(clusters), std::move(numbers)};
}

/// What own nodes add to clusters, to the ranks of these: (cluster, weight, number of neighbours), then
/// (neighbour, weight) for each.
Messages shares_of_clusters(const Communicator& comm, const NodeGraph& graph, const NodeHalo& halo,
                            const std::vector<std::int64_t>& cluster, const Partition& clusters) {
  Messages outgoing(static_cast<std::size_t>(comm.size()));
  std::vector<std::size_t> order(static_cast<std::size_t>(halo.own()));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return cluster[i] < cluster[j]; });
  Tally tally;
  for (std::size_t next = 0; next < order.size();) {
    const GlobalIndex from = cluster[order[next]];
    Offset weight = 0;
    tally.clear();
    for (; next < order.size() && cluster[order[next]] == from; ++next) {
      const std::size_t node = order[next];
      weight += graph.weights[node];
      for (Offset k = graph.offsets[node]; k < graph.offsets[node + 1]; ++k) {
        const auto at = static_cast<std::size_t>(k);
        const GlobalIndex to = cluster[static_cast<std::size_t>(halo.neighbours()[at])];
        if (to != from) tally.add(to, graph.arc_weights.empty() ? 1 : graph.arc_weights[at]);
      }
    }
    auto& list = outgoing[static_cast<std::size_t>(clusters.owner(from))];
    list.insert(list.end(), {from, weight, static_cast<std::int64_t>(tally.keys().size())});
    for (std::size_t k = 0; k < tally.keys().size(); ++k)
      list.insert(list.end(), {tally.keys()[k], tally.sums()[k]});
  }
  return outgoing;
}

/// The graph of own clusters of what all ranks add to them.
void put_together(const Messages& incoming, GlobalIndex begin, NodeGraph& graph) {
  std::vector<Arc> arcs;
  for (const auto& list : incoming) {
    for (std::size_t k = 0; k < list.size();) {
      const GlobalIndex from = list[k];
      graph.weights[static_cast<std::size_t>(from - begin)] += list[k + 1];
      const auto end = k + 3 + 2 * static_cast<std::size_t>(list[k + 2]);
      for (k += 3; k < end; k += 2) arcs.push_back({from, list[k], list[k + 1]});
    }
  }
  std::sort(arcs.begin(), arcs.end(), [](const Arc& one, const Arc& other) {
    return std::tie(one.from, one.to) < std::tie(other.from, other.to);
  });
  for (std::size_t k = 0; k < arcs.size(); ++k) {
    if (k > 0 && arcs[k - 1].from == arcs[k].from && arcs[k - 1].to == arcs[k].to) {
      graph.arc_weights.back() += arcs[k].weight;
      continue;
    }
    graph.neighbours.push_back(arcs[k].to);
    graph.arc_weights.push_back(arcs[k].weight);
    ++graph.offsets[static_cast<std::size_t>(arcs[k].from - begin) + 1];
  }
  std::partial_sum(graph.offsets.begin(), graph.offsets.end(), graph.offsets.begin());
}

}  // namespace

Contraction contracted(const Communicator& comm, const NodeGraph& graph, const NodeHalo& halo,
                       const std::vector<GlobalIndex>& labels) {
  std::vector<GlobalIndex> used;
  comm.collectively([&] { used = labels_in_use(labels, halo.own()); });
  const auto [clusters, numbers] = number_clusters(comm, graph.nodes, used);
  const std::vector<std::int64_t> number_of_used = values_of(comm, graph.nodes, used, numbers);
  Contraction coarse;
  coarse.graph.nodes = clusters;
  std::vector<std::int64_t> cluster;
  comm.collectively([&] {
    cluster.resize(static_cast<std::size_t>(halo.own()));
    for (std::size_t i = 0; i < cluster.size(); ++i) {
      const auto at = std::lower_bound(used.begin(), used.end(), labels[i]) - used.begin();
      cluster[i] = number_of_used[static_cast<std::size_t>(at)];
    }
    coarse.node_of = cluster;
  });
  halo.update(cluster);
  Messages outgoing;
  comm.collectively([&] { outgoing = shares_of_clusters(comm, graph, halo, cluster, coarse.graph.nodes); });
  const Messages incoming = comm.all_to_all(outgoing);
  outgoing = {};
  comm.collectively([&] {
    const auto own = static_cast<std::size_t>(coarse.graph.nodes.size(comm.rank()));
    coarse.graph.weights.assign(own, 0);
    coarse.graph.offsets.assign(own + 1, 0);
    put_together(incoming, coarse.graph.nodes.begin(comm.rank()), coarse.graph);
  });
  return coarse;
}

}  // namespace block_eigs
