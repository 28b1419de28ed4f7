#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "spmm/host/algebra/aggregation.hpp"
#include "spmm/host/algebra/parts.hpp"

namespace block_eigs::host {

namespace {

/// What is known of a node, in the place of its priority: above and below all of them.
constexpr std::int64_t chosen = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t passed = std::numeric_limits<std::int64_t>::min();

bool is_open(std::int64_t state) { return state != chosen && state != passed; }

/// The largest of the values of i and its neighbours.
std::int64_t largest_around(const CsrView<double>& edges, const std::int64_t* values, LocalIndex i) {
  std::int64_t most = values[i];
  for (Offset k = edges.row_offsets[i]; k < edges.row_offsets[i + 1]; ++k)
    most = std::max(most, values[edges.column_indices[k]]);
  return most;
}

/// Nodes that a thread has still to look at, of those in its part.
class Worklists {
 public:
  /// Of the nodes with couplings.
  Worklists(const std::shared_ptr<Device>& device, const CsrView<double>& edges)
      : nodes_(device, static_cast<std::size_t>(edges.rows)), counts_(static_cast<std::size_t>(threads()), 0) {
    for_numbered_parts(edges.rows, [&](LocalIndex begin, LocalIndex end, int part) {
      LocalIndex count = 0;
      for (LocalIndex i = begin; i < end; ++i) {
        if (edges.row_offsets[i] < edges.row_offsets[i + 1]) nodes_.data()[begin + count++] = i;
      }
      counts_[static_cast<std::size_t>(part)] = count;
    });
  }

  /// Calls visit(i) for every node, on all threads, and keeps those it returns true for.
  template <class Visit>
  void sweep(const Visit& visit) {
    for_numbered_parts(static_cast<LocalIndex>(nodes_.size()), [&](LocalIndex begin, LocalIndex, int part) {
      LocalIndex* const list = nodes_.data() + begin;
      LocalIndex& count = counts_[static_cast<std::size_t>(part)];
      LocalIndex kept = 0;
      for (LocalIndex n = 0; n < count; ++n) {
        const LocalIndex i = list[n];
        if (visit(i)) list[kept++] = i;
      }
      count = kept;
    });
  }
  bool empty() const {
    return std::all_of(counts_.begin(), counts_.end(), [](LocalIndex count) { return count == 0; });
  }

 private:
  Buffer<LocalIndex> nodes_;
  std::vector<LocalIndex> counts_;  ///< of the threads
};

/// The states of all nodes, own and ghosts: roots have `chosen`, all others `passed`.
Buffer<std::int64_t> independent_set(const std::shared_ptr<Device>& device, const CsrView<double>& edges,
                                     Neighbourhood& ranks) {
  Buffer<std::int64_t> states;
  Buffer<std::int64_t> arounds;
  std::optional<Worklists> undecided;
  std::optional<Worklists> unsettled;  // whose `around` may still change
  ranks.collectively([&] {
    states = Buffer<std::int64_t>(device, static_cast<std::size_t>(edges.columns));
    arounds = Buffer<std::int64_t>(device, states.size());
    undecided.emplace(device, edges);
    unsettled.emplace(device, edges);
  });
  std::int64_t* const state = states.data();
  std::int64_t* const around = arounds.data();  // the largest state within a step
  const GlobalIndex first = ranks.first_node();
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < edges.rows; ++i) {
    state[i] = edges.row_offsets[i] < edges.row_offsets[i + 1] ? aggregate_priority(first + i) : passed;
    around[i] = passed;
  }
  ranks.refresh(state);
  while (ranks.any(!undecided->empty())) {
    unsettled->sweep([&](LocalIndex i) { return is_open(around[i] = largest_around(edges, state, i)); });
    ranks.refresh(around);
    undecided->sweep([&](LocalIndex i) {
      const std::int64_t most = largest_around(edges, around, i);
      if (most != chosen && most != state[i]) return true;
      state[i] = most == chosen ? passed : chosen;
      return false;
    });
    ranks.refresh(state);
  }
  return states;
}

/// The aggregate that node i is coupled to the most in all, of those that its neighbours have; of equals the one
/// of the larger priority. -1 for none.
GlobalIndex strongest(const CsrView<double>& edges, const GlobalIndex* of, LocalIndex i) {
  GlobalIndex best = -1;
  double most = 0.0;
  const Offset end = edges.row_offsets[i + 1];
  const auto aggregate_at = [&](Offset k) { return of[edges.column_indices[k]]; };
  for (Offset first = edges.row_offsets[i]; first < end; ++first) {
    const GlobalIndex aggregate = aggregate_at(first);
    if (aggregate < 0 || aggregate == best) continue;
    double sum = 0.0;
    for (Offset k = edges.row_offsets[i]; k < end; ++k) {
      if (aggregate_at(k) == aggregate) sum += edges.values[k];
    }
    const bool of_equals = sum == most && aggregate_priority(aggregate) > aggregate_priority(best);
    if (best >= 0 && sum <= most && !of_equals) continue;
    best = aggregate;
    most = sum;
  }
  return best;
}

/// Free nodes join the aggregate that they are coupled to the most.
Buffer<GlobalIndex> join(const std::shared_ptr<Device>& device, const CsrView<double>& edges,
                         const Buffer<GlobalIndex>& before, Neighbourhood& ranks) {
  Buffer<GlobalIndex> after;
  ranks.collectively([&] { after = Buffer<GlobalIndex>(device, before.size()); });
  const GlobalIndex* const of = before.data();
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < edges.rows; ++i) after.data()[i] = of[i] >= 0 ? of[i] : strongest(edges, of, i);
  ranks.refresh(after.data());
  return after;
}

/// Own aggregates of own nodes, and the nodes of others: `of` has the numbers over all ranks.
void take_members(const GlobalIndex* of, AggregateMap& map) {
  const auto nodes = static_cast<LocalIndex>(map.of_node.size());
  const auto is_own = [&](LocalIndex i) { return of[i] >= map.first && of[i] < map.first + map.count; };
  std::vector<std::vector<LocalIndex>> away(static_cast<std::size_t>(threads()));
  for_numbered_parts(nodes, [&](LocalIndex begin, LocalIndex end, int part) {
    for (LocalIndex i = begin; i < end; ++i) {
      map.of_node.data()[i] = is_own(i) ? static_cast<LocalIndex>(of[i] - map.first) : -1;
      if (of[i] >= 0 && !is_own(i)) away[static_cast<std::size_t>(part)].push_back(i);
    }
  });
  for (const std::vector<LocalIndex>& part : away) {
    map.away.insert(map.away.end(), part.begin(), part.end());
    for (const LocalIndex i : part) map.away_aggregates.push_back(of[i]);
  }
}

/// Numbers over all ranks for own roots and hubs, -1 for other own nodes; how many there are goes to `map`.
Buffer<GlobalIndex> numbered(const std::shared_ptr<Device>& device, const CouplingGraph& graph,
                             const Buffer<std::int64_t>& roots, AggregateMap& map, Neighbourhood& ranks) {
  const LocalIndex nodes = graph.neighbours.pattern->rows;
  const LocalIndex* const hub = graph.hub.data();
  const auto has_own = [&](LocalIndex i) { return roots.data()[i] == chosen || hub[i] == i; };
  Buffer<GlobalIndex> of;
  ranks.collectively([&] {
    // Room for the sum of all behind the numbers.
    of = Buffer<GlobalIndex>(device, static_cast<std::size_t>(graph.neighbours.pattern->columns) + 1);
    map.of_node = Buffer<LocalIndex>(device, static_cast<std::size_t>(nodes));
    map.count = static_cast<LocalIndex>(running_sums(
        nodes, [&](LocalIndex i) { return GlobalIndex{has_own(i) ? 1 : 0}; }, of.data()));
  });
  map.first = ranks.sum_before(map.count);
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < nodes; ++i) of.data()[i] = has_own(i) ? of.data()[i] + map.first : -1;
  ranks.refresh(of.data());
  return of;
}

}  // namespace

AggregateMap aggregate(const std::shared_ptr<Device>& device, const CouplingGraph& graph, Neighbourhood& ranks) {
  const CsrView<double> edges = graph.neighbours.view();
  const LocalIndex* const hub = graph.hub.data();
  AggregateMap result;
  Buffer<GlobalIndex> of;
  {
    const Buffer<std::int64_t> roots = independent_set(device, edges, ranks);
    of = numbered(device, graph, roots, result, ranks);
  }
  for (int step = 0; step < 2; ++step) of = join(device, edges, of, ranks);
  Buffer<GlobalIndex> all;
  ranks.collectively([&] {
    all = Buffer<GlobalIndex>(device, static_cast<std::size_t>(edges.rows));
#pragma omp parallel for schedule(static)
    for (LocalIndex i = 0; i < edges.rows; ++i)
      all.data()[i] = of.data()[i] < 0 && hub[i] >= 0 ? of.data()[hub[i]] : of.data()[i];
    take_members(all.data(), result);
  });
  return result;
}

}  // namespace block_eigs::host
