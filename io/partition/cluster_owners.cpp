#include "io/partition/cluster_owners.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "io/partition/contraction.hpp"
#include "io/partition/graph_owners.hpp"
#include "io/partition/label_propagation.hpp"
#include "io/partition/node_halo.hpp"

namespace block_eigs {

namespace {

/// A hub has this many times the neighbours of a node in the mean.
constexpr int hub = 4;
/// Clusters are no heavier than a rank's share over this, so that PT-Scotch finds balance.
constexpr Offset clusters_a_rank = 100;
/// A rank's weight may be above the mean by this part of it where nodes move between ranks.
constexpr double imbalance = 0.03;
/// Rounds of clusters have to leave fewer than this part of the nodes.
constexpr double shrinking = 0.9;
/// Of an arc: what cutting all arcs of a node costs, to be shared by these.
constexpr Offset node_cost = 240;

Offset degree(const NodeGraph& graph, std::size_t node) { return graph.offsets[node + 1] - graph.offsets[node]; }

Offset mean_degree(const Communicator& comm, const NodeGraph& graph) {
  return comm.sum(std::int64_t{graph.arcs()}) / std::max<GlobalIndex>(1, graph.nodes.rows()) + 1;
}

/// Without arcs between nodes of more than `most` neighbours. A node that has its neighbours on one other rank or
/// several is one ghost, or some, however many arcs of it are cut: of its cost each arc carries a share. Sums over
/// cut arcs then stand for ghosts, most of which have few neighbours. Collective.
NodeGraph without_arcs_between_hubs(const Communicator& comm, const NodeGraph& graph, Offset most) {
  const NodeHalo halo(comm, graph);
  std::vector<std::int64_t> degrees;
  comm.collectively([&] {
    degrees.resize(graph.weights.size());
    for (std::size_t i = 0; i < degrees.size(); ++i) degrees[i] = degree(graph, i);
  });
  halo.update(degrees);
  NodeGraph light;
  comm.collectively([&] {
    light.nodes = graph.nodes;
    light.weights = graph.weights;
    for (std::size_t i = 0; i < graph.weights.size(); ++i) {
      for (Offset k = graph.offsets[i]; k < graph.offsets[i + 1]; ++k) {
        const auto at = static_cast<std::size_t>(k);
        const Offset other = degrees[static_cast<std::size_t>(halo.neighbours()[at])];
        if (std::min(degrees[i], other) > most) continue;
        light.neighbours.push_back(graph.neighbours[at]);
        light.arc_weights.push_back(1 + node_cost / degrees[i] + node_cost / other);
      }
      light.offsets.push_back(static_cast<Offset>(light.neighbours.size()));
    }
  });
  return light;
}

/// For each label of own nodes' places the nodes of all ranks that have it. Collective.
std::vector<std::int64_t> label_counts(const Communicator& comm, const NodeGraph& graph,
                                       const std::vector<GlobalIndex>& labels) {
  std::vector<std::vector<std::int64_t>> outgoing(static_cast<std::size_t>(comm.size()));
  std::vector<std::int64_t> counts;
  comm.collectively([&] {
    counts.assign(graph.weights.size(), 0);
    for (std::size_t i = 0; i < graph.weights.size(); ++i)
      outgoing[static_cast<std::size_t>(graph.nodes.owner(labels[i]))].push_back(labels[i]);
  });
  for (const auto& list : comm.all_to_all(outgoing)) {
    for (const GlobalIndex label : list)
      ++counts[static_cast<std::size_t>(label - graph.nodes.begin(comm.rank()))];
  }
  return counts;
}

/// Own nodes that nobody joined and whose favourite cluster had no room, or that have no neighbours: with others
/// of the rank that have the same favourite. Collective.
void gather_single_nodes(const Communicator& comm, const NodeGraph& graph, const NodeHalo& halo, Offset capacity,
                         std::vector<GlobalIndex>& labels) {
  struct Single {
    GlobalIndex favourite;
    LocalIndex node;
  };
  const std::vector<std::int64_t> counts = label_counts(comm, graph, labels);
  comm.collectively([&] {
    std::vector<Single> singles;
    for (LocalIndex i = 0; i < halo.own(); ++i) {
      const auto node = static_cast<std::size_t>(i);
      if (labels[node] != halo.node(i) || counts[node] != 1) continue;
      const auto first = graph.arc_weights.begin() + graph.offsets[node];
      const auto last = graph.arc_weights.begin() + graph.offsets[node + 1];
      const auto heaviest = static_cast<std::size_t>(std::max_element(first, last) - graph.arc_weights.begin());
      singles.push_back({first == last ? -1 : labels[static_cast<std::size_t>(halo.neighbours()[heaviest])], i});
    }
    std::stable_sort(singles.begin(), singles.end(),
                     [](const Single& one, const Single& other) { return one.favourite < other.favourite; });
    Offset room = -1;
    GlobalIndex favourite = -1;
    GlobalIndex label = -1;
    for (const Single& single : singles) {
      const auto node = static_cast<std::size_t>(single.node);
      if (single.favourite != favourite || graph.weights[node] > room) {
        favourite = single.favourite;
        label = halo.node(single.node);
        room = capacity;
      }
      room -= graph.weights[node];
      labels[node] = label;
    }
  });
  halo.update(labels);
}

class Levels {
 public:
  Levels(const Communicator& comm, const NodeGraph& graph, const ClusterOptions& options)
      : comm_(comm), options_(options) {
    share_ = comm.sum(std::int64_t{std::accumulate(graph.weights.begin(), graph.weights.end(), Offset{0})}) /
             comm.size();
    enough_ = std::max<GlobalIndex>(options.enough, GlobalIndex{4} * clusters_a_rank * comm.size());
  }

  /// Of own nodes; empty on all ranks where clusters do not become fewer.
  std::vector<std::int64_t> owners(const NodeGraph& graph) const {
    if (graph.nodes.rows() <= enough_) {
      const std::vector<int> found = graph_owners(comm_, graph);
      return refined(graph, NodeHalo(comm_, graph), {found.begin(), found.end()});
    }
    const NodeHalo halo(comm_, graph);
    const Contraction coarse = clusters(graph, halo);
    if (static_cast<double>(coarse.graph.nodes.rows()) > shrinking * static_cast<double>(graph.nodes.rows()))
      return {};
    const std::vector<std::int64_t> found = owners(coarse.graph);
    if (!comm_.any(!found.empty())) return {};
    std::vector<GlobalIndex> used;
    comm_.collectively([&] {
      used = coarse.node_of;
      std::sort(used.begin(), used.end());
      used.erase(std::unique(used.begin(), used.end()), used.end());
    });
    const std::vector<std::int64_t> owner = values_of(comm_, coarse.graph.nodes, used, found);
    std::vector<std::int64_t> fine;
    comm_.collectively([&] {
      for (const GlobalIndex node : coarse.node_of) {
        const auto at = std::lower_bound(used.begin(), used.end(), node) - used.begin();
        fine.push_back(owner[static_cast<std::size_t>(at)]);
      }
    });
    return refined(graph, halo, std::move(fine));
  }

 private:
  Contraction clusters(const NodeGraph& graph, const NodeHalo& halo) const {
    const LabelRules rules{graph.nodes, share_ / clusters_a_rank, options_.sweeps};
    std::vector<GlobalIndex> labels;
    comm_.collectively([&] {
      labels.resize(graph.weights.size());
      std::iota(labels.begin(), labels.end(), graph.nodes.begin(comm_.rank()));
    });
    halo.update(labels);
    propagate_labels(comm_, graph, halo, rules, labels);
    gather_single_nodes(comm_, graph, halo, rules.capacity, labels);
    return contracted(comm_, graph, halo, labels);
  }

  std::vector<std::int64_t> refined(const NodeGraph& graph, const NodeHalo& halo,
                                    std::vector<std::int64_t> owners) const {
    const auto capacity = static_cast<Offset>((1.0 + imbalance) * static_cast<double>(share_));
    halo.update(owners);
    propagate_labels(comm_, graph, halo,
                     {Partition::uniform(comm_.size(), comm_.size()), capacity, options_.refining_sweeps}, owners);
    owners.resize(graph.weights.size());
    return owners;
  }

  const Communicator& comm_;
  const ClusterOptions& options_;
  Offset share_ = 0;  ///< a rank's, of all weights
  GlobalIndex enough_ = 0;
};

}  // namespace

bool has_hubs(const Communicator& comm, const NodeGraph& graph) {
  const Offset most = hub * mean_degree(comm, graph);
  std::vector<std::int64_t> counts{0, 0};
  for (std::size_t i = 0; i < graph.weights.size(); ++i) {
    if (degree(graph, i) <= most) continue;
    ++counts[0];
    counts[1] += degree(graph, i);
  }
  comm.sum(std::span(counts));
  return counts[0] > 0 && 1000 * counts[0] >= graph.nodes.rows() &&
         10 * counts[1] >= comm.sum(std::int64_t{graph.arcs()});
}

std::vector<int> cluster_owners(const Communicator& comm, const NodeGraph& graph, const ClusterOptions& options) {
  const NodeGraph light = without_arcs_between_hubs(comm, graph, mean_degree(comm, graph));
  const std::vector<std::int64_t> found = Levels(comm, light, options).owners(light);
  return {found.begin(), found.end()};
}

}  // namespace block_eigs
