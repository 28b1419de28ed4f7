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

}  // namespace

int probe_degree(const std::vector<LobpcgIteration>& history, bool preconditioned, LocalIndex columns,
                 double share) {
  // Columns that an iteration could multiply for what it does beside, at the least.
  constexpr double iteration = 4.0;
  const double products_besides = preconditioned ? 1.3 : 2.0;
  constexpr double least = 2.0;
  double work = 0.0;
  double widest = columns;
  for (const LobpcgIteration& entry : history) {
    const bool filter = entry.products > entry.active_columns;
    widest = std::max(widest, static_cast<double>(entry.active_columns));
    if (preconditioned) {
      if (!filter) work += entry.products;
    } else {
      work += (filter ? 1.0 : iteration) * entry.products;
    }
  }
  const double narrow = preconditioned ? 0.9 : words(columns) / words(widest);
  const double degree = share * work / (narrow * columns) - products_besides;
  const double most = preconditioned ? 40.0 : 400.0;
  return degree < least ? 0 : static_cast<int>(std::min(degree, most));
}

bool mostly_filtered(const std::vector<LobpcgIteration>& history) {
  double in_filters = 0.0;
  double in_iterations = 0.0;
  for (const LobpcgIteration& entry : history)
    (entry.products > entry.active_columns ? in_filters : in_iterations) += entry.products;
  return in_filters > in_iterations;
}

}  // namespace block_eigs
