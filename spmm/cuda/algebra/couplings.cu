#include <utility>

#include "spmm/cuda/algebra/lanes.cuh"
#include "spmm/cuda/algebra/operations.hpp"
#include "spmm/cuda/algebra/scan.hpp"
#include "spmm/cuda/algebra/strength.cuh"

namespace block_eigs::cuda {

namespace {

/// Calls strong(j, squared norm) for strong couplings of i to other nodes than hubs, and weak() for those that are
/// not strong; returns the strongest hub or -1.
template <class Strong, class Weak>
__device__ LocalIndex look_at(const SquaredNorms& squares, const Strength& strength, LocalIndex i,
                              const Strong& strong, const Weak& weak) {
  const CsrView<double>& view = squares.view;
  LocalIndex hub = -1;
  double strongest = 0.0;
  for (Offset k = view.row_offsets[i]; k < view.row_offsets[i + 1]; ++k) {
    const LocalIndex j = view.column_indices[k];
    if (j == i) continue;
    const double squared = squares[k];
    if (squared == 0.0) continue;
    if (!strength.is_strong(i, j, squared)) {
      weak();
    } else if (!strength.is_hub(j)) {
      strong(j, squared);
    } else if (squared > strongest) {
      hub = j;
      strongest = squared;
    }
  }
  return hub;
}

/// What is strong of the squared norms: those of nodes that are no hubs, and the strongest hub of each node.
void find_strong(const Gpu& gpu, const SquaredNorms& squares, CouplingGraph& graph) {
  const LocalIndex nodes = squares.view.rows;
  const auto count = static_cast<std::size_t>(nodes);
  const Strength strength{graph.strength.norms.data(), graph.strength.squared_threshold};
  graph.hub = Buffer<LocalIndex>(gpu, count);
  Buffer<LocalIndex> lengths(gpu, count);
  Buffer<unsigned long long> weak(gpu, 1);
  check(cudaMemsetAsync(weak.data(), 0, sizeof(unsigned long long), gpu->stream(Queue::compute)), "set-up");
  for_each(*gpu, nodes,
           [squares, strength, hub = graph.hub.data(), lengths = lengths.data(),
            weak = weak.data()] __device__(std::int64_t item) {
             const auto i = static_cast<LocalIndex>(item);
             LocalIndex length = 0;
             unsigned long long others = 0;
             if (strength.is_hub(i)) {
               hub[i] = i;
             } else {
               hub[i] = look_at(
                   squares, strength, i, [&](LocalIndex, double) { ++length; }, [&] { ++others; });
             }
             lengths[i] = length;
             if (others > 0) atomicAdd(weak, others);
           });
  auto pattern = std::make_shared<CsrPattern>();
  pattern->rows = nodes;
  pattern->columns = squares.view.columns;
  pattern->row_offsets = offsets_of(gpu, lengths.data(), nodes);
  gpu->copy_to_host(&pattern->nonzeros, pattern->row_offsets.data() + nodes, sizeof(Offset), Queue::compute);
  unsigned long long found = 0;
  weak.download(&found);
  graph.weak = static_cast<Offset>(found);
  pattern->column_indices = Buffer<LocalIndex>(gpu, static_cast<std::size_t>(pattern->nonzeros));
  Buffer<double> values(gpu, static_cast<std::size_t>(pattern->nonzeros));
  for_each(*gpu, nodes,
           [squares, strength, hub = graph.hub.data(), offsets = pattern->row_offsets.data(),
            columns = pattern->column_indices.data(), values = values.data()] __device__(std::int64_t item) {
             const auto i = static_cast<LocalIndex>(item);
             if (hub[i] == i) return;
             Offset at = offsets[i];
             const auto store = [&](LocalIndex j, double squared) {
               columns[at] = j;
               values[at++] = sqrt(squared);
             };
             look_at(squares, strength, i, store, [] {});
           });
  graph.neighbours = {std::move(pattern), std::move(values)};
}

}  // namespace

CouplingGraph couplings(const Gpu& gpu, const CsrView<double>& a, int unknowns, double threshold,
                        double hub_entries, Neighbourhood& ranks) {
  CouplingGraph graph;
  CouplingStrength& strength = graph.strength;
  ranks.collectively([&] {
    if (unknowns > 1) strength.blocks = squared_norms(gpu, a, unknowns);
    strength.norms = Buffer<double>(gpu, static_cast<std::size_t>(a.columns / unknowns));
  });
  strength.squared_threshold = threshold * threshold;
  const SquaredNorms squares = squares_of(a, strength, unknowns);
  for_each(*gpu, squares.view.rows,
           [squares, norms = strength.norms.data(), offsets = a.row_offsets, unknowns,
            most = hub_entries * unknowns] __device__(std::int64_t i) {
             const CsrView<double>& view = squares.view;
             double norm = 0.0;
             for (Offset k = view.row_offsets[i]; k < view.row_offsets[i + 1]; ++k) {
               if (view.column_indices[k] == i) norm = sqrt(squares[k]);
             }
             const Offset entries = offsets[(i + 1) * unknowns] - offsets[i * unknowns];
             norms[i] = static_cast<double>(entries) > most ? -norm : norm;
           });
  ranks.refresh(strength.norms.data());
  ranks.collectively([&] { find_strong(gpu, squares, graph); });
  return graph;
}

}  // namespace block_eigs::cuda
