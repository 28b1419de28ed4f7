#include "solver/proof/effort.hpp"

#include <algorithm>

namespace block_eigs {

namespace {

/// What a column of a product takes in a block of so many, in words a row: the matrix is read once for all of
/// them.
double words(double columns) {
  constexpr double matrix = 10.0;
  constexpr double column = 3.0;
  return matrix / columns + column;
}

/// What a probe costs, in products of a column by the solve: start and end, and a degree.
struct Price {
  double besides = 0.0;
  double degree = 1.0;
};

Price price_of(const ProbeKind& kind, double widest) {
  const double columns = kind.columns;
  if (!kind.preconditioned) {
    // In float twice the columns take the same bytes.
    const double degree = columns * words(columns) / words(widest);
    return {2.0 * degree, degree};
  }
  // Measured: cycles of multigrid and an iteration's work on its own.
  if (kind.in_float) return {1.4 * columns, 0.78 * columns};
  return {1.17 * columns, 0.9 * columns};
}

}  // namespace

int probe_degree(const std::vector<LobpcgIteration>& history, const ProbeKind& kind, double share) {
  // Columns that an iteration could multiply for what it does beside, at the least.
  constexpr double iteration = 4.0;
  constexpr double least = 2.0;
  double work = 0.0;
  double widest = kind.columns;
  for (const LobpcgIteration& entry : history) {
    const bool filter = entry.products > entry.active_columns;
    widest = std::max(widest, static_cast<double>(entry.active_columns));
    if (kind.preconditioned) {
      if (!filter) work += entry.products;
    } else {
      work += (filter ? 1.0 : iteration) * entry.products;
    }
  }
  const Price price = price_of(kind, widest);
  const double degree = (share * work - price.besides) / price.degree;
  return degree < least ? 0 : static_cast<int>(std::min<double>(degree, most_degree(kind)));
}

int first_degree(const ProbeKind& kind) { return kind.preconditioned ? 5 : 50; }
int most_degree(const ProbeKind& kind) { return kind.preconditioned ? 40 : 400; }

bool mostly_filtered(const std::vector<LobpcgIteration>& history) {
  double in_filters = 0.0;
  double in_iterations = 0.0;
  for (const LobpcgIteration& entry : history)
    (entry.products > entry.active_columns ? in_filters : in_iterations) += entry.products;
  return in_filters > in_iterations;
}

}  // namespace block_eigs
