#include "solver/multigrid/aggregation/level_smoothing.hpp"

#include <algorithm>
#include <utility>

namespace block_eigs::aggregation {

namespace {

constexpr double damping = 4.0 / 3.0;

}  // namespace

CsrBuffers<double> smoothed(const RowMoving& by, Neighbourhood& ranks, const RowsOfLevel& level,
                            CouplingGraph graph, bool filters, const CsrView<double>& t) {
  CsrBuffers<double> p;
  const auto smooth = [&](const CsrView<double>& a, const MatrixNumbers& numbers) {
    const double omega = damping / std::max(numbers.interpolation_bound, 1e-300);
    by.comm().collectively([&] { p = by.algebra->smoothed(a, numbers, t, graph, omega); });
  };
  if (!filters) {
    graph.strength = {};  // its memory
    smooth(level.matrix, level.numbers);
    return p;
  }
  CsrBuffers<double> filtered;
  by.comm().collectively([&] { filtered = by.algebra->filtered(level.matrix, level.unknowns, graph.strength); });
  graph.strength = {};
  smooth(filtered.view(), by.algebra->numbers(filtered.view(), ranks));
  return p;
}

}  // namespace block_eigs::aggregation
