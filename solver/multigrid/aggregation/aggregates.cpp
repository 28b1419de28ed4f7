#include "solver/multigrid/aggregation/aggregates.hpp"

#include <algorithm>
#include <cmath>

namespace block_eigs::aggregation {

namespace {

/// Squared Frobenius norms of the couplings of one node, gathered row by row.
class NodeCouplings {
 public:
  NodeCouplings(const CsrRows& rows, int unknowns)
      : rows_(rows),
        unknowns_(unknowns),
        nodes_(rows.rows() / unknowns),
        first_node_(rows.row_begin / unknowns),
        place_(unknowns > 1 ? static_cast<std::size_t>(nodes_) : 0, -1) {}

  /// Calls visit(neighbour, squared norm) for every node that `node` is coupled to, -1 for those of other ranks.
  template <class Visit>
  void each(LocalIndex node, const Visit& visit) {
    if (unknowns_ == 1) {
      for (std::size_t k = begin(node); k < begin(node + 1); ++k) visit(own(rows_.columns[k]), square(k));
      return;
    }
    found_.clear();
    squares_.clear();
    for (std::size_t k = begin(node * unknowns_); k < begin((node + 1) * unknowns_); ++k) {
      const LocalIndex neighbour = own(rows_.columns[k] / unknowns_);
      if (neighbour < 0) {
        visit(-1, square(k));
        continue;
      }
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
  LocalIndex own(GlobalIndex node) const {
    const GlobalIndex local = node - first_node_;
    return local >= 0 && local < nodes_ ? static_cast<LocalIndex>(local) : -1;
  }

  const CsrRows& rows_;
  int unknowns_;
  LocalIndex nodes_;
  GlobalIndex first_node_;
  std::vector<LocalIndex> place_;
  std::vector<LocalIndex> found_;
  std::vector<double> squares_;
};

/// |A_ii| of every node.
std::vector<double> diagonal_norms(const CsrRows& rows, int unknowns) {
  const LocalIndex nodes = rows.rows() / unknowns;
  std::vector<double> norms(static_cast<std::size_t>(nodes), 0.0);
  on_threads([&](int part, int parts) {
    NodeCouplings couplings(rows, unknowns);
    for (LocalIndex i = part_begin(nodes, part, parts); i < part_begin(nodes, part + 1, parts); ++i) {
      couplings.each(i, [&](LocalIndex j, double squared) {
        if (j == i) norms[static_cast<std::size_t>(i)] = std::sqrt(squared);
      });
    }
  });
  return norms;
}

std::vector<char> find_hubs(const CsrRows& rows, int unknowns, double entries_per_row) {
  std::vector<char> is_hub(static_cast<std::size_t>(rows.rows() / unknowns), 0);
  const auto width = static_cast<std::size_t>(unknowns);
  for (std::size_t node = 0; node < is_hub.size(); ++node) {
    const Offset entries = rows.row_offsets[(node + 1) * width] - rows.row_offsets[node * width];
    is_hub[node] = static_cast<double>(entries) > entries_per_row * unknowns ? 1 : 0;
  }
  return is_hub;
}

/// The aggregate of the strongest neighbour that has one in `settled`, else -1.
LocalIndex strongest(const StrengthGraph& graph, const std::vector<LocalIndex>& settled, LocalIndex node) {
  LocalIndex best = -1;
  double strength = 0.0;
  for (std::size_t k = graph.neighbours.begin(node); k < graph.neighbours.end(node); ++k) {
    const LocalIndex aggregate = settled[static_cast<std::size_t>(graph.neighbours.columns[k])];
    if (aggregate < 0 || graph.neighbours.values[k] <= strength) continue;
    best = aggregate;
    strength = graph.neighbours.values[k];
  }
  return best;
}

}  // namespace

StrengthGraph strength_graph(const CsrRows& rows, int unknowns_per_node, double threshold, double hub_entries) {
  const std::vector<double> norms = diagonal_norms(rows, unknowns_per_node);
  const auto nodes = static_cast<LocalIndex>(norms.size());
  const std::vector<char> is_hub = find_hubs(rows, unknowns_per_node, hub_entries);
  StrengthGraph graph;
  graph.coupled.assign(norms.size(), 0);
  graph.hub.assign(norms.size(), -1);
  const double squared_threshold = threshold * threshold;
  const double per_node = rows.rows() > 0 ? static_cast<double>(rows.nonzeros()) / rows.rows() : 0.0;
  graph.neighbours = build_rows<LocalIndex>(nodes, per_node, [&] {
    return [&, couplings = NodeCouplings(rows, unknowns_per_node)](LocalIndex i,
                                                                   SparseRows<LocalIndex>& out) mutable {
      const auto node = static_cast<std::size_t>(i);
      const double own = norms[node];
      double strongest_hub = 0.0;
      couplings.each(i, [&](LocalIndex j, double squared) {
        if (j == i) return;
        // The diagonal of nodes elsewhere is not at hand: like one's own.
        const double other = j >= 0 ? norms[static_cast<std::size_t>(j)] : own;
        if (squared == 0.0 || squared <= squared_threshold * own * other) return;
        graph.coupled[node] = 1;
        if (j < 0 || is_hub[node] != 0) return;
        if (is_hub[static_cast<std::size_t>(j)] != 0) {
          if (squared > strongest_hub) graph.hub[node] = j;
          strongest_hub = std::max(strongest_hub, squared);
          return;
        }
        out.columns.push_back(j);
        out.values.push_back(squared);
      });
      if (is_hub[node] != 0) graph.hub[node] = i;
    };
  });
  return graph;
}

Aggregates aggregate(const StrengthGraph& graph) {
  const SparseRows<LocalIndex>& edges = graph.neighbours;
  Aggregates result;
  std::vector<LocalIndex>& of = result.of_node;
  of.assign(graph.coupled.size(), -1);
  const auto is_free = [&](LocalIndex node) { return of[static_cast<std::size_t>(node)] < 0; };
  const auto claim = [&](LocalIndex node) {
    of[static_cast<std::size_t>(node)] = result.count;
    for (std::size_t k = edges.begin(node); k < edges.end(node); ++k) {
      LocalIndex& neighbour = of[static_cast<std::size_t>(edges.columns[k])];
      if (neighbour < 0) neighbour = result.count;
    }
    ++result.count;
  };
  for (LocalIndex i = 0; i < edges.rows(); ++i) {
    bool whole = is_free(i) && edges.begin(i) < edges.end(i);
    for (std::size_t k = edges.begin(i); whole && k < edges.end(i); ++k) whole = is_free(edges.columns[k]);
    if (whole) claim(i);
  }
  const std::vector<LocalIndex> settled = of;
  result.is_hub.assign(of.size(), 0);
  for (LocalIndex i = 0; i < edges.rows(); ++i) {
    if (is_free(i)) of[static_cast<std::size_t>(i)] = strongest(graph, settled, i);
    if (graph.hub[static_cast<std::size_t>(i)] != i) continue;
    result.is_hub[static_cast<std::size_t>(i)] = 1;
    claim(i);
  }
  for (LocalIndex i = 0; i < edges.rows(); ++i) {
    if (!is_free(i)) continue;
    const LocalIndex hub = graph.hub[static_cast<std::size_t>(i)];
    if (hub >= 0 && edges.begin(i) == edges.end(i)) {
      of[static_cast<std::size_t>(i)] = of[static_cast<std::size_t>(hub)];
    } else if (graph.coupled[static_cast<std::size_t>(i)] != 0) {
      claim(i);
    }
  }
  return result;
}

}  // namespace block_eigs::aggregation
