// Graphs with hubs: clusters, what is made of them, and cuts that are never worse than the order of the rows.
// References: the graph itself, whole on every rank; the order of the rows.
#include "io/partition/graph_cut.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "io/generate/generate.hpp"
#include "io/partition/cluster_owners.hpp"
#include "io/partition/contraction.hpp"
#include "io/partition/graph_owners.hpp"
#include "io/partition/key_numbers.hpp"
#include "io/partition/label_propagation.hpp"
#include "io/partition/node_halo.hpp"
#include "spmm/error.hpp"

namespace block_eigs {
namespace {

using Arcs = std::map<std::pair<GlobalIndex, GlobalIndex>, Offset>;

class GraphCutTest : public ::testing::Test {
 protected:
  NodeGraph graph_of(MatrixSource& source) const {
    const Partition rows = Partition::uniform(source.rows(), comm_.size());
    return node_graph(comm_, rows, source.read(rows), nullptr, 1, 15);
  }
  NodeGraph power_law(int scale = 12) const {
    RmatOptions options;
    options.scale = scale;
    options.edge_factor = 8;
    options.symmetric = true;
    return graph_of(*graph_laplacian(comm_, options));
  }
  NodeGraph grid(std::vector<GlobalIndex> size) const {
    LaplacianOptions options;
    options.size = std::move(size);
    return graph_of(*laplacian2d(comm_, options));
  }

  template <class Value>
  std::vector<std::int64_t> whole(const std::vector<Value>& own) const {
    const std::vector<std::int64_t> mine(own.begin(), own.end());
    std::vector<std::int64_t> all;
    for (const auto& part :
         comm_.all_to_all(std::vector<std::vector<std::int64_t>>(static_cast<std::size_t>(comm_.size()), mine)))
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }
  /// Of all ranks.
  Arcs arcs_of(const NodeGraph& graph) const {
    std::vector<std::int64_t> from;
    for (std::size_t i = 0; i + 1 < graph.offsets.size(); ++i)
      from.insert(from.end(), static_cast<std::size_t>(graph.offsets[i + 1] - graph.offsets[i]),
                  graph.nodes.begin(comm_.rank()) + static_cast<GlobalIndex>(i));
    const auto ends = std::pair(whole(from), whole(graph.neighbours));
    const auto weights =
        whole(graph.arc_weights.empty() ? std::vector<Offset>(from.size(), 1) : graph.arc_weights);
    Arcs arcs;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      EXPECT_TRUE(arcs.emplace(std::pair(ends.first[k], ends.second[k]), weights[k]).second);
    }
    return arcs;
  }
  std::vector<std::int64_t> weights_by(const NodeGraph& graph, const std::vector<int>& owners) const {
    std::vector<std::int64_t> weights(static_cast<std::size_t>(comm_.size()), 0);
    for (std::size_t i = 0; i < owners.size(); ++i)
      weights[static_cast<std::size_t>(owners[i])] += graph.weights[i];
    comm_.sum(std::span(weights));
    return weights;
  }
  std::vector<int> in_order(const NodeGraph& graph, const Partition& order) const {
    std::vector<int> owners(graph.weights.size());
    for (std::size_t i = 0; i < owners.size(); ++i)
      owners[i] = order.owner(graph.nodes.begin(comm_.rank()) + static_cast<GlobalIndex>(i));
    return owners;
  }
  std::vector<GlobalIndex> own_nodes(const NodeGraph& graph, const NodeHalo& halo) const {
    std::vector<GlobalIndex> nodes(graph.weights.size());
    std::iota(nodes.begin(), nodes.end(), graph.nodes.begin(comm_.rank()));
    halo.update(nodes);
    return nodes;
  }
  bool can_partition() const {
    try {
      require_graph_partitioner();
    } catch (const InputError&) {
      return false;
    }
    return true;
  }

  const Communicator comm_{MPI_COMM_WORLD};
};

TEST_F(GraphCutTest, KeysAreNumberedAsTheyCome) {
  KeyNumbers numbers;
  for (int round = 0; round < 3; ++round) {
    for (GlobalIndex k = 0; k < 500; ++k)
      EXPECT_EQ(numbers.number((k * 7919 + round) << 20), static_cast<std::size_t>(k));
    for (GlobalIndex k = 499; k >= 0; --k)
      EXPECT_EQ(numbers.number((k * 7919 + round) << 20), static_cast<std::size_t>(k));
    EXPECT_EQ(numbers.size(), 500U);
    numbers.clear();
    EXPECT_EQ(numbers.size(), 0U);
  }
}

TEST_F(GraphCutTest, GhostsAreNodesWithNeighboursElsewhere) {
  const NodeGraph graph = power_law(8);
  std::vector<int> owners(graph.weights.size());
  for (std::size_t i = 0; i < owners.size(); ++i) owners[i] = static_cast<int>(i % 3) % comm_.size();
  const std::vector<std::int64_t> owner = whole(owners);
  std::vector<std::set<GlobalIndex>> expected(static_cast<std::size_t>(comm_.size()));
  for (const auto& [ends, weight] : arcs_of(graph)) {
    const auto to = static_cast<std::size_t>(ends.second);
    if (owner[static_cast<std::size_t>(ends.first)] != owner[to])
      expected[static_cast<std::size_t>(owner[to])].insert(ends.first);
  }
  const std::vector<std::int64_t> found = ghosts_of(comm_, graph, owners);
  for (std::size_t r = 0; r < found.size(); ++r)
    EXPECT_EQ(found[r], static_cast<std::int64_t>(expected[r].size()));
}

TEST_F(GraphCutTest, LabelsHaveRoomForAllThatJoin) {
  const NodeGraph graph = power_law();
  const NodeHalo halo(comm_, graph);
  std::vector<GlobalIndex> labels = own_nodes(graph, halo);
  const std::size_t before = labels.size();
  const LabelRules rules{graph.nodes, 2000, 4};
  propagate_labels(comm_, graph, halo, rules, labels);
  ASSERT_EQ(labels.size(), before);
  std::vector<GlobalIndex> again(labels.begin(), labels.begin() + halo.own());
  halo.update(again);
  EXPECT_EQ(again, labels);  // ghosts have the labels of their ranks
  labels.resize(graph.weights.size());
  const std::vector<std::int64_t> label = whole(labels);
  const std::vector<std::int64_t> weight = whole(graph.weights);
  std::map<GlobalIndex, Offset> sums;
  std::map<GlobalIndex, int> counts;
  for (std::size_t i = 0; i < label.size(); ++i) {
    sums[label[i]] += weight[i];
    ++counts[label[i]];
  }
  for (const auto& [name, sum] : sums) {
    if (counts[name] > 1) {
      EXPECT_LE(sum, rules.capacity);
    }
  }
  EXPECT_LT(sums.size(), label.size() / 2);
}

TEST_F(GraphCutTest, ClustersWeighWhatTheirNodesDo) {
  const NodeGraph graph = power_law(9);
  const NodeHalo halo(comm_, graph);
  std::vector<GlobalIndex> labels(graph.weights.size());
  for (std::size_t i = 0; i < labels.size(); ++i)
    labels[i] = (graph.nodes.begin(comm_.rank()) + static_cast<GlobalIndex>(i)) * 31 % 512 / 5;
  halo.update(labels);
  const Contraction coarse = contracted(comm_, graph, halo, labels);
  labels.resize(graph.weights.size());
  const std::vector<std::int64_t> label = whole(labels);
  const std::vector<std::int64_t> cluster = whole(coarse.node_of);
  const std::vector<std::int64_t> weight = whole(graph.weights);
  ASSERT_EQ(cluster.size(), 512U);
  EXPECT_EQ(coarse.graph.nodes.rows(), 103);
  std::vector<std::int64_t> weights(103, 0);
  for (std::size_t i = 0; i < 512; ++i) {
    for (std::size_t j = 0; j < 512; ++j) EXPECT_EQ(label[i] == label[j], cluster[i] == cluster[j]);
    weights[static_cast<std::size_t>(cluster[i])] += weight[i];
  }
  EXPECT_EQ(whole(coarse.graph.weights), weights);
  Arcs expected;
  for (const auto& [ends, one] : arcs_of(graph)) {
    const auto between =
        std::pair(cluster[static_cast<std::size_t>(ends.first)], cluster[static_cast<std::size_t>(ends.second)]);
    if (between.first != between.second) expected[between] += one;
  }
  EXPECT_EQ(arcs_of(coarse.graph), expected);
}

TEST_F(GraphCutTest, HubsAreToldFromMeshes) {
  EXPECT_TRUE(has_hubs(comm_, power_law()));
  EXPECT_FALSE(has_hubs(comm_, grid({60, 50})));
  NodeGraph star = grid({60, 50});  // and a row that couples with all others
  if (star.nodes.size(comm_.rank()) > 0 && comm_.rank() == 0) {
    star.neighbours.clear();
    for (GlobalIndex node = 1; node < star.nodes.rows(); ++node) star.neighbours.push_back(node);
    std::fill(star.offsets.begin() + 1, star.offsets.end(), static_cast<Offset>(star.neighbours.size()));
  }
  EXPECT_FALSE(has_hubs(comm_, star));
}

TEST_F(GraphCutTest, PowerLawIsCutInBalanceWithFewerGhosts) {
  if (!can_partition()) GTEST_SKIP() << "without PT-Scotch";
  const NodeGraph graph = power_law(13);
  ClusterOptions options;
  options.enough = 1000;
  const std::vector<int> owners = cluster_owners(comm_, graph, options);
  ASSERT_EQ(owners.size(), graph.weights.size());
  EXPECT_EQ(cluster_owners(comm_, graph, options), owners);
  const auto weights = weights_by(graph, owners);
  const double mean =
      static_cast<double>(std::accumulate(weights.begin(), weights.end(), std::int64_t{0})) / comm_.size();
  EXPECT_LE(static_cast<double>(*std::max_element(weights.begin(), weights.end())), 1.1 * mean);
  if (comm_.size() == 1) return;
  const auto cut = ghosts_of(comm_, graph, owners);
  const auto order =
      ghosts_of(comm_, graph, in_order(graph, Partition::by_nonzeros(comm_, graph.nodes, graph.weights)));
  EXPECT_LT(std::accumulate(cut.begin(), cut.end(), 0.0), 0.95 * std::accumulate(order.begin(), order.end(), 0.0));
  EXPECT_LT(*std::max_element(cut.begin(), cut.end()), *std::max_element(order.begin(), order.end()));
}

TEST_F(GraphCutTest, IsNeverWorseThanTheOrder) {
  if (!can_partition()) GTEST_SKIP() << "without PT-Scotch";
  LaplacianOptions path;
  path.size = {400};
  for (const NodeGraph& graph : {power_law(10), grid({7, 300}), graph_of(*laplacian1d(comm_, path))}) {
    const auto cut = ghosts_of(comm_, graph, cut_graph(comm_, graph, graph.nodes));
    const auto order = ghosts_of(comm_, graph, in_order(graph, graph.nodes));
    EXPECT_LE(std::accumulate(cut.begin(), cut.end(), std::int64_t{0}),
              std::accumulate(order.begin(), order.end(), std::int64_t{0}));
    EXPECT_LE(*std::max_element(cut.begin(), cut.end()), *std::max_element(order.begin(), order.end()));
  }
}

}  // namespace
}  // namespace block_eigs
