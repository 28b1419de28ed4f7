#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
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

/// The roots have `chosen`, all others `passed`.
Buffer<std::int64_t> independent_set(const std::shared_ptr<Device>& device, const CsrView<double>& edges) {
  Buffer<std::int64_t> states(device, static_cast<std::size_t>(edges.rows));
  Buffer<std::int64_t> arounds(device, states.size());
  std::int64_t* const state = states.data();
  std::int64_t* const around = arounds.data();  // the largest state within a step
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < edges.rows; ++i) {
    state[i] = edges.row_offsets[i] < edges.row_offsets[i + 1] ? aggregate_priority(i) : passed;
    around[i] = passed;
  }
  Worklists undecided(device, edges);
  Worklists unsettled(device, edges);  // whose `around` may still change
  while (!undecided.empty()) {
    unsettled.sweep([&](LocalIndex i) { return is_open(around[i] = largest_around(edges, state, i)); });
    undecided.sweep([&](LocalIndex i) {
      const std::int64_t most = largest_around(edges, around, i);
      if (most != chosen && most != state[i]) return true;
      state[i] = most == chosen ? passed : chosen;
      return false;
    });
  }
  return states;
}

/// The aggregate that node i is coupled to the most in all, of those that its neighbours have; of equals the one
/// of the larger priority. -1 for none.
LocalIndex strongest(const CsrView<double>& edges, const LocalIndex* of, LocalIndex i) {
  LocalIndex best = -1;
  double most = 0.0;
  const Offset end = edges.row_offsets[i + 1];
  const auto aggregate_at = [&](Offset k) { return of[edges.column_indices[k]]; };
  for (Offset first = edges.row_offsets[i]; first < end; ++first) {
    const LocalIndex aggregate = aggregate_at(first);
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
Buffer<LocalIndex> join(const std::shared_ptr<Device>& device, const CsrView<double>& edges,
                        const Buffer<LocalIndex>& before) {
  Buffer<LocalIndex> after(device, before.size());
  const LocalIndex* const of = before.data();
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < edges.rows; ++i) after.data()[i] = of[i] >= 0 ? of[i] : strongest(edges, of, i);
  return after;
}

}  // namespace

AggregateMap aggregate(const std::shared_ptr<Device>& device, const CouplingGraph& graph) {
  const CsrView<double> edges = graph.neighbours.view();
  const LocalIndex* const hub = graph.hub.data();
  AggregateMap result;
  // Room for the sum of all behind the numbers.
  Buffer<LocalIndex> of(device, static_cast<std::size_t>(edges.rows) + 1);
  {
    const Buffer<std::int64_t> roots = independent_set(device, edges);
    const auto has_own = [&](LocalIndex i) { return roots.data()[i] == chosen || hub[i] == i; };
    result.count = running_sums(
        edges.rows, [&](LocalIndex i) { return has_own(i) ? 1 : 0; }, of.data());
#pragma omp parallel for schedule(static)
    for (LocalIndex i = 0; i < edges.rows; ++i) {
      if (!has_own(i)) of.data()[i] = -1;
    }
  }
  for (int step = 0; step < 2; ++step) of = join(device, edges, of);
  result.of_node = Buffer<LocalIndex>(device, static_cast<std::size_t>(edges.rows));
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < edges.rows; ++i)
    result.of_node.data()[i] = of.data()[i] < 0 && hub[i] >= 0 ? of.data()[hub[i]] : of.data()[i];
  return result;
}

}  // namespace block_eigs::host
