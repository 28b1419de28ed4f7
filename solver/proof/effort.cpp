#include "solver/proof/effort.hpp"

#include <algorithm>

namespace block_eigs {

int probe_degree(const std::vector<LobpcgIteration>& history, bool preconditioned, LocalIndex columns,
                 double share) {
  // Reading the matrix costs about as much as a few columns do.
  const double narrow = preconditioned ? 1.0 : 1.5;
  constexpr double products_besides = 2.0;
  constexpr double least = 2.0;
  double work = 0.0;
  for (const LobpcgIteration& iteration : history) {
    const bool filter = iteration.products > iteration.active_columns;
    if (!preconditioned || !filter) work += iteration.products;
  }
  const double degree = share * work / (narrow * columns) - products_besides;
  const double most = preconditioned ? 40.0 : 400.0;
  return degree < least ? 0 : static_cast<int>(std::min(degree, most));
}

}  // namespace block_eigs
