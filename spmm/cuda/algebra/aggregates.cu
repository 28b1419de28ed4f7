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

/// Flags the roots in the graph that the candidates make.
Buffer<LocalIndex> independent_set(const Gpu& gpu, const CsrView<double>& edges,
                                   const Buffer<LocalIndex>& candidates) {
  const auto nodes = static_cast<std::size_t>(edges.rows);
  Buffer<std::int64_t> states(gpu, nodes);
  Buffer<std::int64_t> arounds(gpu, nodes);
  Buffer<LocalIndex> left(gpu, 1);
  std::int64_t* const state = states.data();
  std::int64_t* const around = arounds.data();
  for_each(*gpu, edges.rows, [state, around, candidates = candidates.data()] __device__(std::int64_t i) {
    state[i] = around[i] = candidates[i] != 0 ? aggregate_priority(i) : passed;
  });
  constexpr int rounds_at_once = 3;
  LocalIndex any_left = edges.rows > 0 ? 1 : 0;
  while (any_left != 0) {
    for (int round = 0; round < rounds_at_once; ++round) {
      check(cudaMemsetAsync(left.data(), 0, sizeof(LocalIndex), gpu->stream(Queue::compute)), "clear a flag");
      for_each(*gpu, edges.rows, [edges, state, around] __device__(std::int64_t i) {
        if (around[i] == chosen || around[i] == passed) return;
        around[i] = largest_around(edges, state, i);
      });
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
    }
    left.download(&any_left);
  }
  Buffer<LocalIndex> roots(gpu, nodes);
  for_each(*gpu, edges.rows,
           [state, roots = roots.data()] __device__(std::int64_t i) { roots[i] = state[i] == chosen ? 1 : 0; });
  return roots;
}

/// The aggregate that node i is coupled to the most in all, of those that its neighbours have; of equals the one
/// of the larger priority. -1 for none.
__device__ LocalIndex strongest(const CsrView<double>& edges, const LocalIndex* of, std::int64_t i) {
  LocalIndex best = -1;
  double most = 0.0;
  const Offset begin = edges.row_offsets[i];
  const Offset end = edges.row_offsets[i + 1];
  for (Offset first = begin; first < end; ++first) {
    const LocalIndex aggregate = of[edges.column_indices[first]];
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
Buffer<LocalIndex> join(const Gpu& gpu, const CsrView<double>& edges, const Buffer<LocalIndex>& before) {
  Buffer<LocalIndex> after(gpu, before.size());
  for_each(*gpu, edges.rows, [edges, before = before.data(), after = after.data()] __device__(std::int64_t i) {
    after[i] = before[i] >= 0 ? before[i] : strongest(edges, before, i);
  });
  return after;
}

}  // namespace

AggregateMap aggregate(const Gpu& gpu, const CouplingGraph& graph) {
  const CsrView<double> edges = graph.neighbours.view();
  const auto nodes = static_cast<std::size_t>(edges.rows);
  Buffer<LocalIndex> flags(gpu, nodes);
  for_each(*gpu, edges.rows, [edges, flags = flags.data()] __device__(std::int64_t i) {
    flags[i] = edges.row_offsets[i] < edges.row_offsets[i + 1] ? 1 : 0;
  });
  const Buffer<LocalIndex> roots = independent_set(gpu, edges, flags);
  // From here on `flags` are those that have an aggregate of their own.
  for_each(*gpu, edges.rows,
           [flags = flags.data(), roots = roots.data(), hub = graph.hub.data()] __device__(std::int64_t i) {
             flags[i] = roots[i] != 0 || hub[i] == i ? 1 : 0;
           });
  AggregateMap result;
  if (nodes == 0) return result;
  Buffer<LocalIndex> numbers(gpu, nodes);
  number_flags(gpu, flags.data(), edges.rows, numbers.data());
  LocalIndex last = 0;
  LocalIndex last_flag = 0;
  gpu->copy_to_host(&last, numbers.data() + nodes - 1, sizeof(LocalIndex), Queue::compute);
  gpu->copy_to_host(&last_flag, flags.data() + nodes - 1, sizeof(LocalIndex), Queue::compute);
  for_each(*gpu, edges.rows, [flags = flags.data(), numbers = numbers.data()] __device__(std::int64_t i) {
    if (flags[i] == 0) numbers[i] = -1;
  });
  const Buffer<LocalIndex> of = join(gpu, edges, join(gpu, edges, numbers));
  result.of_node = Buffer<LocalIndex>(gpu, nodes);
  for_each(*gpu, edges.rows,
           [of = of.data(), hub = graph.hub.data(), to = result.of_node.data()] __device__(std::int64_t i) {
             to[i] = of[i] < 0 && hub[i] >= 0 ? of[hub[i]] : of[i];
           });
  gpu->synchronize(Queue::compute);
  result.count = last + last_flag;
  return result;
}

}  // namespace block_eigs::cuda
