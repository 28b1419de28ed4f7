#include "solver/multigrid/rigid_body_modes.hpp"

namespace block_eigs {

void center(const Communicator& comm, int dimensions, std::span<double> coordinates) {
  const auto width = static_cast<std::size_t>(dimensions);
  std::vector<double> sums(width + 1, 0.0);
  const std::size_t nodes = coordinates.size() / width;
  sums[width] = static_cast<double>(nodes);
  for (std::size_t i = 0; i < coordinates.size(); ++i) sums[i % width] += coordinates[i];
  comm.sum(std::span(sums));
  if (sums[width] == 0.0) return;
  for (std::size_t i = 0; i < coordinates.size(); ++i) coordinates[i] -= sums[i % width] / sums[width];
}

std::vector<double> rigid_body_modes(int dimensions, std::span<const double> coordinates) {
  const auto width = static_cast<std::size_t>(dimensions);
  const auto modes = static_cast<std::size_t>(rigid_body_mode_count(dimensions));
  std::vector<double> result(coordinates.size() * modes, 0.0);
  for (std::size_t i = 0; i < coordinates.size(); ++i) {
    const std::size_t component = i % width;
    const double* place = coordinates.data() + (i - component);
    double* row = result.data() + modes * i;
    row[component] = 1.0;
    if (dimensions == 2) {
      row[2] = component == 0 ? -place[1] : place[0];
      continue;
    }
    // The rotation about axis k moves r to e_k x r, and this is one component of it.
    const std::size_t next = (component + 1) % 3;
    const std::size_t after = (component + 2) % 3;
    row[3 + next] = place[after];
    row[3 + after] = -place[next];
  }
  return result;
}

}  // namespace block_eigs
