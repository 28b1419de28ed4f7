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

__device__ int count_neighbours(const CsrView<double>& edges, const LocalIndex* flags, std::int64_t i) {
  int count = 0;
  for (Offset k = edges.row_offsets[i]; k < edges.row_offsets[i + 1]; ++k) count += flags[edges.column_indices[k]];
  return count;
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

/// Free nodes join the aggregate of the neighbour that they are coupled to the most, of those that `leading` flags
/// (null: all) and that have one in `before`; of equals the first.
Buffer<LocalIndex> join(const Gpu& gpu, const CsrView<double>& edges, const LocalIndex* leading,
                        const Buffer<LocalIndex>& before) {
  Buffer<LocalIndex> after(gpu, before.size());
  for_each(*gpu, edges.rows,
           [edges, leading, before = before.data(), after = after.data()] __device__(std::int64_t i) {
             LocalIndex own = before[i];
             double strength = 0.0;
             const Offset end = own >= 0 ? 0 : edges.row_offsets[i + 1];
             for (Offset k = edges.row_offsets[i]; k < end; ++k) {
               const LocalIndex j = edges.column_indices[k];
               if ((leading != nullptr && leading[j] == 0) || before[j] < 0 || edges.values[k] <= strength)
                 continue;
               own = before[j];
               strength = edges.values[k];
             }
             after[i] = own;
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
  Buffer<LocalIndex> far(gpu, nodes);
  for_each(*gpu, edges.rows,
           [edges, far = far.data(), flags = flags.data(), roots = roots.data()] __device__(std::int64_t i) {
             far[i] = flags[i] != 0 && roots[i] == 0 && count_neighbours(edges, roots, i) == 0 ? 1 : 0;
           });
  Buffer<LocalIndex> far_roots = independent_set(gpu, edges, far);
  // From here on `flags` are those that have an aggregate of their own.
  for_each(*gpu, edges.rows,
           [edges, flags = flags.data(), far = far.data(), roots = roots.data(), far_roots = far_roots.data(),
            hub = graph.hub.data()] __device__(std::int64_t i) {
             if (far_roots[i] != 0 && count_neighbours(edges, far, i) < fewest_far_neighbours) far_roots[i] = 0;
             flags[i] = roots[i] != 0 || far_roots[i] != 0 || hub[i] == i ? 1 : 0;
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
  Buffer<LocalIndex> of = join(gpu, edges, roots.data(), numbers);
  of = join(gpu, edges, far_roots.data(), of);
  of = join(gpu, edges, nullptr, of);
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
