#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "spmm/host/algebra/aggregation.hpp"
#include "spmm/host/algebra/collected_rows.hpp"
#include "spmm/host/algebra/strength.hpp"

namespace block_eigs::host {

namespace {

/// Where the rows of a node begin among the entries of A.
Offset begin_of(const CsrView<double>& a, LocalIndex node, int unknowns) {
  return a.row_offsets[static_cast<std::ptrdiff_t>(node) * unknowns];
}

/// Squared Frobenius norms of the blocks of A.
CsrBuffers<double> squared_norms(const std::shared_ptr<Device>& device, const CsrView<double>& a, int unknowns) {
  const auto row = [&](LocalIndex node, RowSums<>& sums) {
    for (Offset k = begin_of(a, node, unknowns); k < begin_of(a, node + 1, unknowns); ++k)
      sums.add(a.column_indices[k] / unknowns, a.values[k] * a.values[k]);
  };
  return *collect_rows(device, a.rows / unknowns, a.columns / unknowns, GroupWidth<1>{}, row);
}

/// |A_ii| of own nodes, and room for those of ghosts.
Buffer<double> diagonal_norms(const std::shared_ptr<Device>& device, const SquaredNorms& squares) {
  const CsrView<double>& view = squares.view;
  Buffer<double> result(device, static_cast<std::size_t>(view.columns));
  double* const norms = result.data();
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < view.rows; ++i) {
    norms[i] = 0.0;
    for (Offset k = view.row_offsets[i]; k < view.row_offsets[i + 1]; ++k) {
      if (view.column_indices[k] == i) norms[i] = std::sqrt(squares[k]);
    }
  }
  return result;
}

/// |A_ii| of all nodes, own and ghosts, with a minus sign (-0.0 too) for hubs: what is known of a node before its
/// couplings are looked at.
Buffer<double> signed_norms(const std::shared_ptr<Device>& device, const CsrView<double>& a,
                            const SquaredNorms& squares, int unknowns, double hub_entries, Neighbourhood& ranks) {
  Buffer<double> norms;
  ranks.collectively([&] { norms = diagonal_norms(device, squares); });
#pragma omp parallel for schedule(static)
  for (LocalIndex node = 0; node < squares.view.rows; ++node) {
    const Offset entries = begin_of(a, node + 1, unknowns) - begin_of(a, node, unknowns);
    if (static_cast<double>(entries) > hub_entries * unknowns) norms.data()[node] = -norms.data()[node];
  }
  ranks.refresh(norms.data());
  return norms;
}

}  // namespace

CouplingGraph couplings(const std::shared_ptr<Device>& device, const CsrView<double>& a, int unknowns,
                        double threshold, double hub_entries, Neighbourhood& ranks) {
  CouplingGraph graph;
  ranks.collectively([&] {
    if (unknowns > 1) graph.strength.blocks = squared_norms(device, a, unknowns);
  });
  const SquaredNorms squares = squares_of(a, graph.strength, unknowns);
  graph.strength.norms = signed_norms(device, a, squares, unknowns, hub_entries, ranks);
  graph.strength.squared_threshold = threshold * threshold;
  const CsrView<double>& view = squares.view;
  const Strength strength{graph.strength.norms.data(), graph.strength.squared_threshold};
  // Calls visit(j, |A_ij|^2) for the strong couplings of i to nodes that are no hubs, and weak() for those that
  // are not strong; returns the strongest hub.
  const auto each = [&](LocalIndex i, const auto& visit, const auto& weak) {
    if (strength.is_hub(i)) return i;
    LocalIndex hub = -1;
    double strongest = 0.0;
    for (Offset k = view.row_offsets[i]; k < view.row_offsets[i + 1]; ++k) {
      const LocalIndex j = view.column_indices[k];
      const double squared = squares[k];
      if (j == i || squared == 0.0) continue;
      if (!strength.is_strong(i, j, squared)) {
        weak();
      } else if (!strength.is_hub(j)) {
        visit(j, squared);
      } else if (squared > strongest) {
        hub = j;
        strongest = squared;
      }
    }
    return hub;
  };
  ranks.collectively([&] {
    const auto nodes = static_cast<std::size_t>(view.rows);
    graph.hub = Buffer<LocalIndex>(device, nodes);
    Buffer<LocalIndex> found(device, nodes);
    Offset weak = 0;
#pragma omp parallel for schedule(static) reduction(+ : weak)
    for (LocalIndex i = 0; i < view.rows; ++i) {
      LocalIndex count = 0;
      graph.hub.data()[i] = each(
          i, [&](LocalIndex, double) { ++count; }, [&] { ++weak; });
      found.data()[i] = count;
    }
    graph.weak = weak;
    auto pattern = std::make_shared<CsrPattern>();
    pattern->rows = view.rows;
    pattern->columns = view.columns;
    pattern->row_offsets = Buffer<Offset>(device, nodes + 1);
    const Offset* const offsets = pattern->row_offsets.data();
    pattern->nonzeros = running_sums(
        view.rows, [&](LocalIndex i) { return found.data()[i]; }, pattern->row_offsets.data());
    pattern->column_indices = Buffer<LocalIndex>(device, static_cast<std::size_t>(pattern->nonzeros));
    Buffer<double> values(device, static_cast<std::size_t>(pattern->nonzeros));
#pragma omp parallel for schedule(static)
    for (LocalIndex i = 0; i < view.rows; ++i) {
      Offset at = offsets[i];
      const auto store = [&](LocalIndex j, double squared) {
        pattern->column_indices.data()[at] = j;
        values.data()[at++] = std::sqrt(squared);
      };
      each(i, store, [] {});
    }
    graph.neighbours = {std::move(pattern), std::move(values)};
  });
  return graph;
}

}  // namespace block_eigs::host
