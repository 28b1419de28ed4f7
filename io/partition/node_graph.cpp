#include "io/partition/node_graph.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "spmm/scatter_bits.hpp"

namespace block_eigs {

namespace {

/// Of node i of a rank, what (neighbours in any order) holds.
using Lists = std::vector<std::vector<GlobalIndex>>;

Partition in_nodes(const Partition& rows, int unknowns) {
  std::vector<GlobalIndex> offsets = rows.offsets();
  for (GlobalIndex& offset : offsets) offset /= unknowns;
  return Partition(std::move(offsets));
}

void add_neighbours(const CsrRows& rows, std::size_t row, int unknowns, std::vector<GlobalIndex>& out) {
  for (Offset k = rows.row_offsets[row]; k < rows.row_offsets[row + 1]; ++k) {
    const GlobalIndex node = rows.columns[static_cast<std::size_t>(k)] / unknowns;
    if (out.empty() || out.back() != node) out.push_back(node);
  }
}

void sort_unique(std::vector<GlobalIndex>& list, GlobalIndex self) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  const auto at = std::lower_bound(list.begin(), list.end(), self);
  if (at != list.end() && *at == self) list.erase(at);
}

/// Neighbours of own nodes as the rows have them, those of `more` (by local node, or empty) besides.
void fill(const CsrRows& a, const CsrRows* b, int unknowns, const Lists& more, int rank, NodeGraph& graph) {
  const GlobalIndex begin = graph.nodes.begin(rank);
  graph.offsets.assign(1, 0);
  graph.neighbours.clear();
  std::vector<GlobalIndex> list;
  for (LocalIndex i = 0; i < graph.nodes.size(rank); ++i) {
    const auto node = static_cast<std::size_t>(i);
    const auto first = node * static_cast<std::size_t>(unknowns);
    list.clear();
    for (std::size_t row = first; row < first + static_cast<std::size_t>(unknowns); ++row) {
      add_neighbours(a, row, unknowns, list);
      if (b != nullptr) add_neighbours(*b, row, unknowns, list);
    }
    if (!more.empty()) list.insert(list.end(), more[node].begin(), more[node].end());
    sort_unique(list, begin + i);
    graph.neighbours.insert(graph.neighbours.end(), list.begin(), list.end());
    graph.offsets.push_back(static_cast<Offset>(graph.neighbours.size()));
  }
}

void weigh(const CsrRows& a, const CsrRows* b, int unknowns, Offset row_weight, NodeGraph& graph) {
  const auto row = [&](std::size_t node) { return node * static_cast<std::size_t>(unknowns); };
  graph.weights.resize(graph.offsets.size() - 1);
  for (std::size_t i = 0; i < graph.weights.size(); ++i) {
    graph.weights[i] = row_weight * unknowns + a.row_offsets[row(i + 1)] - a.row_offsets[row(i)];
    if (b != nullptr) graph.weights[i] += b->row_offsets[row(i + 1)] - b->row_offsets[row(i)];
  }
}

/// A number for an arc that has nothing to do with that of its reverse (scattered bits of both ends).
std::uint64_t arc_number(GlobalIndex from, GlobalIndex to) {
  const std::uint64_t first = scatter_bits((static_cast<std::uint64_t>(from) + 1) * golden_step);
  return scatter_bits(first + (static_cast<std::uint64_t>(to) + 1) * 0xd1b54a32d192ed03u);
}

/// Whether every arc has its reverse: numbers of the arcs and of their reverses then have the same sum, and hardly
/// ever else. Collective.
bool both_ways(const Communicator& comm, const NodeGraph& graph) {
  std::uint64_t difference = 0;
  const GlobalIndex begin = graph.nodes.begin(comm.rank());
  for (std::size_t i = 0; i + 1 < graph.offsets.size(); ++i) {
    const GlobalIndex node = begin + static_cast<GlobalIndex>(i);
    for (Offset k = graph.offsets[i]; k < graph.offsets[i + 1]; ++k) {
      const GlobalIndex other = graph.neighbours[static_cast<std::size_t>(k)];
      difference += arc_number(node, other) - arc_number(other, node);
    }
  }
  std::uint64_t sum = 0;
  for (const std::int64_t part : comm.all_gather(static_cast<std::int64_t>(difference)))
    sum += static_cast<std::uint64_t>(part);
  return sum == 0;
}

/// For every own node, the nodes of all ranks that have it as neighbour. Collective.
Lists reversed(const Communicator& comm, const NodeGraph& graph) {
  std::vector<std::vector<std::int64_t>> outgoing(static_cast<std::size_t>(comm.size()));
  const GlobalIndex begin = graph.nodes.begin(comm.rank());
  comm.collectively([&] {
    for (std::size_t i = 0; i + 1 < graph.offsets.size(); ++i) {
      for (Offset k = graph.offsets[i]; k < graph.offsets[i + 1]; ++k) {
        const GlobalIndex other = graph.neighbours[static_cast<std::size_t>(k)];
        auto& list = outgoing[static_cast<std::size_t>(graph.nodes.owner(other))];
        list.insert(list.end(), {other, begin + static_cast<GlobalIndex>(i)});
      }
    }
  });
  const auto incoming = comm.all_to_all(outgoing);
  Lists lists;
  comm.collectively([&] {
    lists.resize(graph.offsets.size() - 1);
    for (const auto& arcs : incoming) {
      for (std::size_t k = 0; k < arcs.size(); k += 2)
        lists[static_cast<std::size_t>(arcs[k] - begin)].push_back(arcs[k + 1]);
    }
  });
  return lists;
}

}  // namespace

NodeGraph node_graph(const Communicator& comm, const Partition& rows, const CsrRows& a, const CsrRows* b,
                     int unknowns, Offset row_weight) {
  NodeGraph graph{in_nodes(rows, unknowns), {0}, {}, {}};
  comm.collectively([&] {
    fill(a, b, unknowns, {}, comm.rank(), graph);
    weigh(a, b, unknowns, row_weight, graph);
  });
  if (both_ways(comm, graph)) return graph;
  const Lists more = reversed(comm, graph);
  comm.collectively([&] { fill(a, b, unknowns, more, comm.rank(), graph); });
  return graph;
}

}  // namespace block_eigs
