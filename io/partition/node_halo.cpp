#include "io/partition/node_halo.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>

#include "io/partition/key_numbers.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// Each to the list of the rank that has it.
std::vector<std::vector<std::int64_t>> by_owner(const Communicator& comm, const Partition& partition,
                                                const std::vector<GlobalIndex>& nodes) {
  std::vector<std::vector<std::int64_t>> lists(static_cast<std::size_t>(comm.size()));
  for (const GlobalIndex node : nodes) lists[static_cast<std::size_t>(partition.owner(node))].push_back(node);
  return lists;
}

}  // namespace

std::vector<std::int64_t> values_of(const Communicator& comm, const Partition& partition,
                                    const std::vector<GlobalIndex>& nodes, const std::vector<std::int64_t>& own) {
  std::vector<std::vector<std::int64_t>> asked;
  comm.collectively([&] { asked = by_owner(comm, partition, nodes); });
  auto questions = comm.all_to_all(asked);
  for (auto& list : questions) {
    for (std::int64_t& node : list) node = own[static_cast<std::size_t>(node - partition.begin(comm.rank()))];
  }
  const auto answers = comm.all_to_all(questions);
  std::vector<std::int64_t> values;
  comm.collectively([&] {
    values.resize(nodes.size());
    std::vector<std::size_t> next(answers.size(), 0);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto rank = static_cast<std::size_t>(partition.owner(nodes[i]));
      values[i] = answers[rank][next[rank]++];
    }
  });
  return values;
}

NodeHalo::NodeHalo(const Communicator& comm, const NodeGraph& graph)
    : comm_(comm), begin_(graph.nodes.begin(comm.rank())), own_(graph.nodes.size(comm.rank())) {
  std::vector<std::vector<std::int64_t>> asked;
  comm_.collectively([&] {
    number_neighbours(graph);
    asked = by_owner(comm_, graph.nodes, ghosts_);
  });
  sent_ = comm_.all_to_all(asked);
  for (auto& list : sent_) {
    for (std::int64_t& node : list) node -= begin_;
  }
}

void NodeHalo::number_neighbours(const NodeGraph& graph) {
  KeyNumbers others;
  neighbours_.resize(graph.neighbours.size());
  for (std::size_t k = 0; k < neighbours_.size(); ++k) {
    const GlobalIndex local = graph.neighbours[k] - begin_;
    const bool own = local >= 0 && local < own_;
    neighbours_[k] =
        own ? static_cast<LocalIndex>(local) : own_ + static_cast<LocalIndex>(others.number(graph.neighbours[k]));
  }
  require(others.size() <= static_cast<std::size_t>(std::numeric_limits<LocalIndex>::max() - own_),
          "partition: graph: a rank has more than 2^31 neighbours; use more ranks");
  std::vector<std::size_t> order(others.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t i, std::size_t j) { return others.keys()[i] < others.keys()[j]; });
  std::vector<LocalIndex> place(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    place[order[k]] = own_ + static_cast<LocalIndex>(k);
    ghosts_.push_back(others.keys()[order[k]]);
  }
  for (LocalIndex& neighbour : neighbours_) {
    if (neighbour >= own_) neighbour = place[static_cast<std::size_t>(neighbour - own_)];
  }
}

void NodeHalo::update(std::vector<std::int64_t>& values) const {
  std::vector<std::vector<std::int64_t>> outgoing;
  comm_.collectively([&] {
    outgoing = sent_;
    for (auto& list : outgoing) {
      for (std::int64_t& value : list) value = values[static_cast<std::size_t>(value)];
    }
    values.resize(static_cast<std::size_t>(size()));
  });
  const auto incoming = comm_.all_to_all(outgoing);
  // Ghosts ascend, and so do ranks.
  auto at = values.begin() + own_;
  for (const auto& list : incoming) at = std::copy(list.begin(), list.end(), at);
}

}  // namespace block_eigs
