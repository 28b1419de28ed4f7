#include <climits>
#include <utility>

#include "spmm/cuda/algebra/lanes.cuh"
#include "spmm/cuda/algebra/operations.hpp"
#include "spmm/cuda/algebra/scan.hpp"

namespace block_eigs::cuda {

namespace {

/// What is known of a node, in the place of its priority: above and below all of them.
constexpr std::int64_t chosen = LLONG_MAX;
constexpr std::int64_t passed = LLONG_MIN;

__device__ std::int64_t largest_around(const CsrView<double>& edges, const std::int64_t* values, std::int64_t i) {
  std::int64_t most = values[i];
  const Offset end = edges.row_offsets[i + 1];
  for (Offset k = edges.row_offsets[i]; k < end; ++k) most = max(most, values[edges.column_indices[k]]);
  return most;
}

/// The states of all nodes, own and ghosts: roots have `chosen`, all others `passed`.
Buffer<std::int64_t> independent_set(const Gpu& gpu, const CsrView<double>& edges, Neighbourhood& ranks) {
  Buffer<std::int64_t> states;
  Buffer<std::int64_t> arounds;
  Buffer<LocalIndex> left;
  ranks.collectively([&] {
    states = Buffer<std::int64_t>(gpu, static_cast<std::size_t>(edges.columns));
    arounds = Buffer<std::int64_t>(gpu, states.size());
    left = Buffer<LocalIndex>(gpu, 1);
  });
  std::int64_t* const state = states.data();
  std::int64_t* const around = arounds.data();
  for_each(*gpu, edges.rows, [edges, state, around, first = ranks.first_node()] __device__(std::int64_t i) {
    const bool coupled = edges.row_offsets[i] < edges.row_offsets[i + 1];
    state[i] = around[i] = coupled ? aggregate_priority(first + i) : passed;
  });
  ranks.refresh(state);
  constexpr int rounds_at_once = 3;
  LocalIndex any_left = edges.rows > 0 ? 1 : 0;
  while (ranks.any(any_left != 0)) {
    for (int round = 0; round < rounds_at_once; ++round) {
      check(cudaMemsetAsync(left.data(), 0, sizeof(LocalIndex), gpu->stream(Queue::compute)), "clear a flag");
      for_each(*gpu, edges.rows, [edges, state, around] __device__(std::int64_t i) {
        if (around[i] == chosen || around[i] == passed) return;
        around[i] = largest_around(edges, state, i);
      });
      ranks.refresh(around);
      for_each(*gpu, edges.rows, [edges, state, around, left = left.data()] __device__(std::int64_t i) {
        const std::int64_t own = state[i];
        if (own == chosen || own == passed) return;
        const std::int64_t most = largest_around(edges, around, i);
        if (most == chosen) {
          state[i] = passed;
        } else if (most == own) {
          state[i] = chosen;
        } else {
          *left = 1;
        }
      });
      ranks.refresh(state);
    }
    left.download(&any_left);
  }
  return states;
}

/// The aggregate that node i is coupled to the most in all, of those that its neighbours have; of equals the one
/// of the larger priority. -1 for none.
__device__ GlobalIndex strongest(const CsrView<double>& edges, const GlobalIndex* of, std::int64_t i) {
  GlobalIndex best = -1;
  double most = 0.0;
  const Offset begin = edges.row_offsets[i];
  const Offset end = edges.row_offsets[i + 1];
  for (Offset first = begin; first < end; ++first) {
    const GlobalIndex aggregate = of[edges.column_indices[first]];
    if (aggregate < 0 || aggregate == best) continue;
    double sum = 0.0;
    for (Offset k = begin; k < end; ++k) {
      if (of[edges.column_indices[k]] == aggregate) sum += edges.values[k];
    }
    const bool of_equals = sum == most && aggregate_priority(aggregate) > aggregate_priority(best);
    if (best >= 0 && sum <= most && !of_equals) continue;
    best = aggregate;
    most = sum;
  }
  return best;
}

/// Free nodes join the aggregate that they are coupled to the most.
Buffer<GlobalIndex> join(const Gpu& gpu, const CsrView<double>& edges, const Buffer<GlobalIndex>& before,
                         Neighbourhood& ranks) {
  Buffer<GlobalIndex> after;
  ranks.collectively([&] { after = Buffer<GlobalIndex>(gpu, before.size()); });
  for_each(*gpu, edges.rows, [edges, before = before.data(), after = after.data()] __device__(std::int64_t i) {
    after[i] = before[i] >= 0 ? before[i] : strongest(edges, before, i);
  });
  ranks.refresh(after.data());
  return after;
}

/// Numbers over all ranks for own roots and hubs, -1 for other own nodes; how many there are goes to `map`.
Buffer<GlobalIndex> numbered(const Gpu& gpu, const CouplingGraph& graph, const Buffer<std::int64_t>& roots,
                             AggregateMap& map, Neighbourhood& ranks) {
  const LocalIndex nodes = graph.neighbours.pattern->rows;
  Buffer<GlobalIndex> of;
  Buffer<LocalIndex> flags;
  Buffer<LocalIndex> numbers;
  ranks.collectively([&] {
    of = Buffer<GlobalIndex>(gpu, static_cast<std::size_t>(graph.neighbours.pattern->columns));
    flags = Buffer<LocalIndex>(gpu, static_cast<std::size_t>(nodes));
    numbers = Buffer<LocalIndex>(gpu, flags.size());
    for_each(*gpu, nodes,
             [flags = flags.data(), state = roots.data(), hub = graph.hub.data()] __device__(std::int64_t i) {
               flags[i] = state[i] == chosen || hub[i] == i ? 1 : 0;
             });
    map.count = number_flags(gpu, flags, numbers);
  });
  map.first = ranks.sum_before(map.count);
  for_each(*gpu, nodes,
           [flags = flags.data(), numbers = numbers.data(), of = of.data(),
            first = map.first] __device__(std::int64_t i) { of[i] = flags[i] != 0 ? first + numbers[i] : -1; });
  ranks.refresh(of.data());
  return of;
}

/// The nodes whose aggregate belongs to other ranks.
void find_away(const Gpu& gpu, const Buffer<GlobalIndex>& of, AggregateMap& map) {
  const auto nodes = static_cast<std::int64_t>(of.size());
  Buffer<LocalIndex> flags(gpu, of.size());
  Buffer<LocalIndex> numbers(gpu, of.size());
  for_each(*gpu, nodes,
           [of = of.data(), flags = flags.data(), first = map.first, count = map.count] __device__(
               std::int64_t i) { flags[i] = of[i] >= 0 && (of[i] < first || of[i] >= first + count) ? 1 : 0; });
  const auto count = static_cast<std::size_t>(number_flags(gpu, flags, numbers));
  Buffer<LocalIndex> away(gpu, count);
  Buffer<GlobalIndex> aggregates(gpu, count);
  for_each(*gpu, nodes,
           [of = of.data(), flags = flags.data(), numbers = numbers.data(), away = away.data(),
            aggregates = aggregates.data()] __device__(std::int64_t i) {
             if (flags[i] == 0) return;
             away[numbers[i]] = static_cast<LocalIndex>(i);
             aggregates[numbers[i]] = of[i];
           });
  map.away.resize(count);
  map.away_aggregates.resize(count);
  away.download(map.away.data());
  aggregates.download(map.away_aggregates.data());
}

}  // namespace

AggregateMap aggregate(const Gpu& gpu, const CouplingGraph& graph, Neighbourhood& ranks) {
  const CsrView<double> edges = graph.neighbours.view();
  AggregateMap result;
  Buffer<GlobalIndex> of;
  {
    const Buffer<std::int64_t> roots = independent_set(gpu, edges, ranks);
    of = numbered(gpu, graph, roots, result, ranks);
  }
  for (int step = 0; step < 2; ++step) of = join(gpu, edges, of, ranks);
  ranks.collectively([&] {
    Buffer<GlobalIndex> all(gpu, static_cast<std::size_t>(edges.rows));
    result.of_node = Buffer<LocalIndex>(gpu, all.size());
    for_each(*gpu, edges.rows,
             [of = of.data(), hub = graph.hub.data(), all = all.data(), to = result.of_node.data(),
              first = result.first, count = result.count] __device__(std::int64_t i) {
               const GlobalIndex aggregate = of[i] < 0 && hub[i] >= 0 ? of[hub[i]] : of[i];
               const bool is_own = aggregate >= first && aggregate < first + count;
               all[i] = aggregate;
               to[i] = is_own ? static_cast<LocalIndex>(aggregate - first) : -1;
             });
    if (ranks.has_others()) find_away(gpu, all, result);
  });
  return result;
}

}  // namespace block_eigs::cuda
