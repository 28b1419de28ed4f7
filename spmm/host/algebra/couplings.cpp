#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

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

/// |A_ii| of every node.
std::vector<double> diagonal_norms(const CsrView<double>& squares) {
  std::vector<double> norms(static_cast<std::size_t>(squares.rows), 0.0);
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < squares.rows; ++i) {
    for (Offset k = squares.row_offsets[i]; k < squares.row_offsets[i + 1]; ++k) {
      if (squares.column_indices[k] == i) norms[static_cast<std::size_t>(i)] = std::sqrt(squares.values[k]);
    }
  }
  return norms;
}

}  // namespace

CouplingGraph couplings(const std::shared_ptr<Device>& device, const CsrView<double>& a, int unknowns,
                        double threshold, double hub_entries) {
  const CsrBuffers<double> squares = squared_norms(device, a, unknowns);
  const CsrView<double> view = squares.view();
  const std::vector<double> norms = diagonal_norms(view);
  const auto is_hub = [&](LocalIndex node) {
    const Offset entries = begin_of(a, node + 1, unknowns) - begin_of(a, node, unknowns);
    return static_cast<double>(entries) > hub_entries * unknowns;
  };
  CouplingGraph graph;
  graph.hub = Buffer<LocalIndex>(device, norms.size());
  const double squared_threshold = threshold * threshold;
  graph.neighbours = collect_rows(device, view.rows, view.columns, [&](LocalIndex i, RowSums& sums) {
    LocalIndex& hub = graph.hub.data()[i];
    hub = is_hub(i) ? i : -1;
    if (hub == i) return;
    double strongest = 0.0;
    for (Offset k = view.row_offsets[i]; k < view.row_offsets[i + 1]; ++k) {
      const LocalIndex j = view.column_indices[k];
      const double squared = view.values[k];
      const double least =
          squared_threshold * norms[static_cast<std::size_t>(i)] * norms[static_cast<std::size_t>(j)];
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
