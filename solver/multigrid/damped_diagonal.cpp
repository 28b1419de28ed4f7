#include "solver/multigrid/damped_diagonal.hpp"

#include <algorithm>
#include <cmath>

namespace block_eigs {

double damped_diagonal(double diagonal, double sum) { return std::max(std::abs(diagonal), 0.5 * sum); }

DampedDiagonal damped_diagonal(const Communicator& comm, std::span<const double> diagonal,
                               const std::vector<double>& sums) {
  DampedDiagonal result;
  comm.collectively([&] {
    result.entries.assign(diagonal.begin(), diagonal.end());
    for (std::size_t i = 0; i < sums.size(); ++i) {
      double& entry = result.entries[i];
      entry = damped_diagonal(entry, sums[i]);
      if (entry > 0.0) result.bound = std::max(result.bound, sums[i] / entry);
    }
  });
  result.bound = comm.max(result.bound);
  return result;
}

}  // namespace block_eigs
