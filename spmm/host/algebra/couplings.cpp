#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "spmm/host/algebra/aggregation.hpp"
#include "spmm/host/algebra/row_sums.hpp"

namespace block_eigs::host {

namespace {

/// Where the rows of a node begin among the entries of A.
Offset begin_of(const CsrView<double>& a, LocalIndex node, int unknowns) {
  return a.row_offsets[static_cast<std::ptrdiff_t>(node) * unknowns];
}

/// Squared Frobenius norms of the blocks of A.
CsrBuffers<double> squared_norms(const std::shared_ptr<Device>& device, const CsrView<double>& a, int unknowns) {
  return collect_rows(device, a.rows / unknowns, a.columns / unknowns, [&](LocalIndex node, RowSums& sums) {
    for (Offset k = begin_of(a, node, unknowns); k < begin_of(a, node + 1, unknowns); ++k)
      sums.add(a.column_indices[k] / unknowns, a.values[k] * a.values[k]);
  });
}

/// Squared norms of blocks: made, or those of the entries of A where blocks have one.
struct Blocks {
  CsrBuffers<double> made{};
  CsrView<double> view{};
  bool entries = false;

  double squared(Offset k) const { return entries ? view.values[k] * view.values[k] : view.values[k]; }
};

Blocks blocks_of(const std::shared_ptr<Device>& device, const CsrView<double>& a, int unknowns) {
  if (unknowns == 1) return {{}, a, true};
  Blocks blocks{squared_norms(device, a, unknowns)};
  blocks.view = blocks.made.view();
  return blocks;
}

/// |A_ii| of every node.
Buffer<double> diagonal_norms(const std::shared_ptr<Device>& device, const Blocks& blocks) {
  const CsrView<double>& view = blocks.view;
  Buffer<double> result(device, static_cast<std::size_t>(view.rows));
  double* const norms = result.data();
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < view.rows; ++i) {
    norms[i] = 0.0;
    for (Offset k = view.row_offsets[i]; k < view.row_offsets[i + 1]; ++k) {
      if (view.column_indices[k] == i) norms[i] = std::sqrt(blocks.squared(k));
    }
  }
  return result;
}

}  // namespace

CouplingGraph couplings(const std::shared_ptr<Device>& device, const CsrView<double>& a, int unknowns,
                        double threshold, double hub_entries) {
  const Blocks blocks = blocks_of(device, a, unknowns);
  const CsrView<double>& view = blocks.view;
  const Buffer<double> norms_of_nodes = diagonal_norms(device, blocks);
  const double* const norms = norms_of_nodes.data();
  const auto is_hub = [&](LocalIndex node) {
    const Offset entries = begin_of(a, node + 1, unknowns) - begin_of(a, node, unknowns);
    return static_cast<double>(entries) > hub_entries * unknowns;
  };
  CouplingGraph graph;
  graph.hub = Buffer<LocalIndex>(device, norms_of_nodes.size());
  const double squared_threshold = threshold * threshold;
  graph.neighbours = collect_rows(device, view.rows, view.columns, [&](LocalIndex i, RowSums& sums) {
    LocalIndex& hub = graph.hub.data()[i];
    hub = is_hub(i) ? i : -1;
    if (hub == i) return;
    double strongest = 0.0;
    for (Offset k = view.row_offsets[i]; k < view.row_offsets[i + 1]; ++k) {
      const LocalIndex j = view.column_indices[k];
      const double squared = blocks.squared(k);
      const double least = squared_threshold * norms[i] * norms[j];
      if (j == i || squared == 0.0 || squared <= least) continue;
      if (!is_hub(j)) {
        sums.add(j, std::sqrt(squared));
      } else if (squared > strongest) {
        hub = j;
        strongest = squared;
      }
    }
  });
  return graph;
}

}  // namespace block_eigs::host
