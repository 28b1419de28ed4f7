#include <utility>

#include "spmm/cuda/algebra/lanes.cuh"
#include "spmm/cuda/algebra/operations.hpp"
#include "spmm/cuda/algebra/scan.hpp"

namespace block_eigs::cuda {

namespace {

/// Squared norms of the blocks of a matrix: where blocks are single entries, the squares of these.
struct Squares {
  CsrView<double> matrix;
  bool squared;  ///< already

  __device__ double operator()(Offset k) const {
    const double value = matrix.values[k];
    return squared ? value : value * value;
  }
};

/// Which couplings are strong, and which nodes are hubs.
struct Strength {
  Squares squares;
  const double* norms;  ///< |A_ii| of own nodes and of ghosts, with a minus sign (-0.0 too) for hubs
  double squared_threshold;

  __device__ bool is_hub(LocalIndex node) const { return signbit(norms[node]); }

  /// Calls strong(j, squared norm) for strong couplings to other nodes than hubs; returns the strongest hub or -1.
  template <class Strong>
  __device__ LocalIndex look_at(LocalIndex i, const Strong& strong) const {
    const CsrView<double>& view = squares.matrix;
    LocalIndex hub = -1;
    double strongest = 0.0;
    const double own = norms[i];
    for (Offset k = view.row_offsets[i]; k < view.row_offsets[i + 1]; ++k) {
      const LocalIndex j = view.column_indices[k];
      if (j == i) continue;
      const double squared = squares(k);
      if (squared == 0.0 || squared <= squared_threshold * own * fabs(norms[j])) continue;
      if (!is_hub(j)) {
        strong(j, squared);
      } else if (squared > strongest) {
        hub = j;
        strongest = squared;
      }
    }
    return hub;
  }
};

/// What is strong of the squared norms: those of nodes that are no hubs, and the strongest hub of each node.
CouplingGraph strong_couplings(const Gpu& gpu, const Squares& squares, const Strength& strength) {
  const LocalIndex nodes = squares.matrix.rows;
  const auto count = static_cast<std::size_t>(nodes);
  CouplingGraph graph;
  graph.hub = Buffer<LocalIndex>(gpu, count);
  Buffer<LocalIndex> lengths(gpu, count);
  for_each(*gpu, nodes,
           [strength, hub = graph.hub.data(), lengths = lengths.data()] __device__(std::int64_t item) {
             const auto i = static_cast<LocalIndex>(item);
             LocalIndex length = 0;
             if (strength.is_hub(i)) {
               hub[i] = i;
             } else {
               hub[i] = strength.look_at(i, [&](LocalIndex, double) { ++length; });
             }
             lengths[i] = length;
           });
  auto pattern = std::make_shared<CsrPattern>();
  pattern->rows = nodes;
  pattern->columns = squares.matrix.columns;
  pattern->row_offsets = offsets_of(gpu, lengths.data(), nodes);
  gpu->copy_to_host(&pattern->nonzeros, pattern->row_offsets.data() + nodes, sizeof(Offset), Queue::compute);
  gpu->synchronize(Queue::compute);
  pattern->column_indices = Buffer<LocalIndex>(gpu, static_cast<std::size_t>(pattern->nonzeros));
  Buffer<double> values(gpu, static_cast<std::size_t>(pattern->nonzeros));
  for_each(*gpu, nodes,
           [strength, hub = graph.hub.data(), offsets = pattern->row_offsets.data(),
            columns = pattern->column_indices.data(), values = values.data()] __device__(std::int64_t item) {
             const auto i = static_cast<LocalIndex>(item);
             if (hub[i] == i) return;
             Offset at = offsets[i];
             strength.look_at(i, [&](LocalIndex j, double squared) {
               columns[at] = j;
               values[at++] = sqrt(squared);
             });
           });
  graph.neighbours = {std::move(pattern), std::move(values)};
  return graph;
}

}  // namespace

CouplingGraph couplings(const Gpu& gpu, const CsrView<double>& a, int unknowns, double threshold,
                        double hub_entries, Neighbourhood& ranks) {
  CsrBuffers<double> blocks;
  Buffer<double> norms;
  ranks.collectively([&] {
    if (unknowns > 1) blocks = squared_norms(gpu, a, unknowns);
    norms = Buffer<double>(gpu, static_cast<std::size_t>(a.columns / unknowns));
  });
  const Squares squares{unknowns > 1 ? blocks.view() : a, unknowns > 1};
  const LocalIndex nodes = squares.matrix.rows;
  for_each(*gpu, nodes,
           [squares, norms = norms.data(), offsets = a.row_offsets, unknowns,
            most = hub_entries * unknowns] __device__(std::int64_t i) {
             const CsrView<double>& view = squares.matrix;
             double norm = 0.0;
             for (Offset k = view.row_offsets[i]; k < view.row_offsets[i + 1]; ++k) {
               if (view.column_indices[k] == i) norm = sqrt(squares(k));
             }
             const Offset entries = offsets[(i + 1) * unknowns] - offsets[i * unknowns];
             norms[i] = static_cast<double>(entries) > most ? -norm : norm;
           });
  ranks.refresh(norms.data());
  const Strength strength{squares, norms.data(), threshold * threshold};
  CouplingGraph graph;
  ranks.collectively([&] { graph = strong_couplings(gpu, squares, strength); });
  return graph;
}

}  // namespace block_eigs::cuda
