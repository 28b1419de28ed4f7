#include "solver/multigrid/aggregation/aggregates.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "solver/multigrid/aggregation/independent_set.hpp"

namespace block_eigs::aggregation {

namespace {

/// Squared Frobenius norms of the couplings of one node, gathered row by row.
class NodeCouplings {
 public:
  NodeCouplings(const CsrRows& rows, const Nodes& nodes)
      : rows_(rows), nodes_(nodes), place_(nodes.unknowns > 1 ? static_cast<std::size_t>(nodes.all()) : 0, -1) {}

  /// Calls visit(neighbour, squared norm) for every node that `node` is coupled to, in an order that does not
  /// depend on ranks.
  template <class Visit>
  void each(LocalIndex node, const Visit& visit) {
    const LocalIndex unknowns = nodes_.unknowns;
    if (unknowns == 1) {
      for (std::size_t k = begin(node); k < begin(node + 1); ++k)
        visit(nodes_.numbers.local(rows_.columns[k]), square(k));
      return;
    }
    found_.clear();
    squares_.clear();
    for (std::size_t k = begin(node * unknowns); k < begin((node + 1) * unknowns); ++k) {
      const LocalIndex neighbour = nodes_.numbers.local(rows_.columns[k] / unknowns);
      LocalIndex& at = place_[static_cast<std::size_t>(neighbour)];
      if (at < 0) {
        at = static_cast<LocalIndex>(found_.size());
        found_.push_back(neighbour);
        squares_.push_back(0.0);
      }
      squares_[static_cast<std::size_t>(at)] += square(k);
    }
    for (std::size_t n = 0; n < found_.size(); ++n) {
      place_[static_cast<std::size_t>(found_[n])] = -1;
      visit(found_[n], squares_[n]);
    }
  }

 private:
  std::size_t begin(LocalIndex row) const {
    return static_cast<std::size_t>(rows_.row_offsets[static_cast<std::size_t>(row)]);
  }
  double square(std::size_t k) const { return rows_.values[k] * rows_.values[k]; }

  const CsrRows& rows_;
  const Nodes& nodes_;
  std::vector<LocalIndex> place_;
  std::vector<LocalIndex> found_;
  std::vector<double> squares_;
};

/// |A_ii| of own nodes.
std::vector<double> diagonal_norms(const CsrRows& rows, const Nodes& nodes) {
  std::vector<double> norms(static_cast<std::size_t>(nodes.own()), 0.0);
  on_threads([&](int part, int parts) {
    NodeCouplings couplings(rows, nodes);
    const LocalIndex end = part_begin(nodes.own(), part + 1, parts);
    for (LocalIndex i = part_begin(nodes.own(), part, parts); i < end; ++i) {
      couplings.each(i, [&](LocalIndex j, double squared) {
        if (j == i) norms[static_cast<std::size_t>(i)] = std::sqrt(squared);
      });
    }
  });
  return norms;
}

/// Of own nodes.
std::vector<std::int64_t> find_hubs(const CsrRows& rows, const Nodes& nodes, double entries_per_row) {
  std::vector<std::int64_t> is_hub(static_cast<std::size_t>(nodes.own()), 0);
  const auto width = static_cast<std::size_t>(nodes.unknowns);
  for (std::size_t node = 0; node < is_hub.size(); ++node) {
    const Offset entries = rows.row_offsets[(node + 1) * width] - rows.row_offsets[node * width];
    is_hub[node] = static_cast<double>(entries) > entries_per_row * nodes.unknowns ? 1 : 0;
  }
  return is_hub;
}

/// Own strong couplings, and the strongest hubs. Not collective.
StrengthGraph strong_couplings(const CsrRows& rows, const Nodes& nodes, double threshold,
                               const std::vector<double>& norms, const std::vector<std::int64_t>& is_hub) {
  StrengthGraph graph;
  graph.hub.assign(static_cast<std::size_t>(nodes.own()), -1);
  const double squared_threshold = threshold * threshold;
  const double per_node = rows.rows() > 0 ? static_cast<double>(rows.nonzeros()) / rows.rows() : 0.0;
  graph.neighbours = build_rows<LocalIndex>(nodes.own(), per_node, [&] {
    return [&, couplings = NodeCouplings(rows, nodes)](LocalIndex i, SparseRows<LocalIndex>& out) mutable {
      const auto node = static_cast<std::size_t>(i);
      if (is_hub[node] != 0) {
        graph.hub[node] = i;
        return;
      }
      double strongest_hub = 0.0;
      couplings.each(i, [&](LocalIndex j, double squared) {
        const auto other = static_cast<std::size_t>(j);
        if (j == i || squared == 0.0 || squared <= squared_threshold * norms[node] * norms[other]) return;
        if (is_hub[other] != 0) {
          if (squared > strongest_hub) graph.hub[node] = j;
          strongest_hub = std::max(strongest_hub, squared);
          return;
        }
        out.columns.push_back(j);
        out.values.push_back(std::sqrt(squared));
      });
    };
  });
  return graph;
}

/// The aggregate that a node is coupled to the most, by the sum over its neighbours there; of equals the one whose
/// number has the larger priority. -1 where no neighbour has one.
class Strongest {
 public:
  Strongest(const SparseRows<LocalIndex>& edges, const std::vector<GlobalIndex>& of) : edges_(edges), of_(of) {}

  GlobalIndex operator()(LocalIndex node) {
    sums_.clear();
    for (std::size_t k = edges_.begin(node); k < edges_.end(node); ++k) {
      const GlobalIndex aggregate = of_[static_cast<std::size_t>(edges_.columns[k])];
      if (aggregate >= 0) sum_of(aggregate) += edges_.values[k];
    }
    std::pair<GlobalIndex, double> best{-1, 0.0};
    for (const auto& [aggregate, sum] : sums_) {
      const bool first_of_equals = sum == best.second && priority(aggregate) > priority(best.first);
      if (best.first < 0 || sum > best.second || first_of_equals) best = {aggregate, sum};
    }
    return best.first;
  }

 private:
  double& sum_of(GlobalIndex aggregate) {
    for (auto& [number, sum] : sums_) {
      if (number == aggregate) return sum;
    }
    return sums_.emplace_back(aggregate, 0.0).second;
  }

  const SparseRows<LocalIndex>& edges_;
  const std::vector<GlobalIndex>& of_;
  std::vector<std::pair<GlobalIndex, double>> sums_;
};

/// Nodes without an aggregate join the strongest of their neighbours'. Collective.
void join_strongest(const Communicator& comm, const Nodes& nodes, const SparseRows<LocalIndex>& edges,
                    std::vector<GlobalIndex>& of) {
  std::vector<GlobalIndex> joined;
  comm.collectively([&] {
    joined.assign(of.begin(), of.begin() + nodes.own());
    on_threads([&](int part, int parts) {
      Strongest strongest(edges, of);
      const LocalIndex end = part_begin(nodes.own(), part + 1, parts);
      for (LocalIndex i = part_begin(nodes.own(), part, parts); i < end; ++i) {
        GlobalIndex& own = joined[static_cast<std::size_t>(i)];
        if (own < 0) own = strongest(i);
      }
    });
  });
  of = std::move(joined);
  nodes.refresh(comm, of);
}

/// Numbers for own roots and hubs, ascending from rank to rank and within each; -1 for all others. Collective.
Aggregates numbered(const Communicator& comm, const StrengthGraph& graph, const std::vector<char>& roots) {
  Aggregates result;
  std::int64_t count = 0;
  comm.collectively([&] {
    result.of_node.assign(roots.size(), -1);
    result.is_hub.assign(roots.size(), 0);
    for (std::size_t i = 0; i < roots.size(); ++i) {
      result.is_hub[i] = graph.hub[i] == static_cast<LocalIndex>(i) ? 1 : 0;
      if (roots[i] != 0 || result.is_hub[i] != 0) result.of_node[i] = count++;
    }
  });
  std::vector<GlobalIndex> offsets{0};
  for (const std::int64_t of_rank : comm.all_gather(count)) offsets.push_back(offsets.back() + of_rank);
  result.partition = Partition(std::move(offsets));
  const GlobalIndex first = result.partition.begin(comm.rank());
  for (GlobalIndex& aggregate : result.of_node) aggregate += aggregate < 0 ? 0 : first;
  return result;
}

}  // namespace

StrengthGraph strength_graph(const Communicator& comm, const CsrRows& rows, const Nodes& nodes, double threshold,
                             double hub_entries) {
  std::vector<double> norms;
  std::vector<std::int64_t> is_hub;
  comm.collectively([&] {
    norms = diagonal_norms(rows, nodes);
    is_hub = find_hubs(rows, nodes, hub_entries);
  });
  nodes.refresh(comm, norms);
  nodes.refresh(comm, is_hub);
  StrengthGraph graph;
  comm.collectively([&] { graph = strong_couplings(rows, nodes, threshold, norms, is_hub); });
  return graph;
}

Aggregates aggregate(const Communicator& comm, const Nodes& nodes, const StrengthGraph& graph) {
  const SparseRows<LocalIndex>& edges = graph.neighbours;
  const auto own = static_cast<std::size_t>(nodes.own());
  std::vector<char> candidates;
  comm.collectively([&] {
    candidates.resize(own);
    for (LocalIndex i = 0; i < nodes.own(); ++i)
      candidates[static_cast<std::size_t>(i)] = edges.begin(i) < edges.end(i) ? 1 : 0;
  });
  Aggregates result = numbered(comm, graph, independent_set(comm, nodes, edges, candidates));
  std::vector<GlobalIndex>& of = result.of_node;
  nodes.refresh(comm, of);
  for (int step = 0; step < 2; ++step) join_strongest(comm, nodes, edges, of);
  for (std::size_t i = 0; i < own; ++i) {
    if (of[i] < 0 && graph.hub[i] >= 0) of[i] = of[static_cast<std::size_t>(graph.hub[i])];
  }
  of.resize(own);
  return result;
}

}  // namespace block_eigs::aggregation
