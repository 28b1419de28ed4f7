#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "io/generate/generate.hpp"
#include "io/generate/generate_grid.hpp"
#include "io/generate/generate_rows.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

std::vector<double> harmonic_well(GlobalIndex points, double spacing, double omega) {
  std::vector<double> well(static_cast<std::size_t>(points));
  for (std::size_t i = 0; i < well.size(); ++i) {
    // Twice the distance from the centre is a whole number of spacings: symmetric to the last bit.
    const auto doubled = static_cast<double>(2 * static_cast<GlobalIndex>(i) - (points - 1));
    const double x = 0.5 * spacing * doubled;
    well[i] = 0.5 * omega * omega * x * x;
  }
  return well;
}

}  // namespace

std::unique_ptr<MatrixSource> schroedinger3d(const Communicator& comm, const SchroedingerOptions& options) {
  const GlobalIndex rows = grid_rows("schroedinger3d", options.size, 3);
  require(options.spacing > 0.0 && std::isfinite(options.spacing),
          fmt::format("schroedinger3d: spacing is {}, it must be positive", options.spacing));
  require(options.omega.size() == 3,
          fmt::format("schroedinger3d: omega has {} entries, it needs 3", options.omega.size()));
  const double kinetic = 0.5 / (options.spacing * options.spacing);
  GridOperator grid;
  for (std::size_t d = 0; d < 3; ++d) {
    require(std::isfinite(options.omega[d]), "schroedinger3d: omega must be finite");
    grid.size[d] = options.size[d];
    grid.potential[d] = harmonic_well(options.size[d], options.spacing, options.omega[d]);
  }
  grid.points = {{{0, 0, -1}, -kinetic},     {{0, -1, 0}, -kinetic}, {{-1, 0, 0}, -kinetic},
                 {{0, 0, 0}, 6.0 * kinetic}, {{1, 0, 0}, -kinetic},  {{0, 1, 0}, -kinetic},
                 {{0, 0, 1}, -kinetic}};
  return generated_matrix(comm,
                          {rows, fmt::format("schroedinger3d {}, spacing {}, omega {}", shape_text(options.size),
                                             options.spacing, fmt::join(options.omega, " : "))},
                          [grid = std::move(grid)](const Partition& partition, int rank, CsrRows& out) {
                            set_grid_rows(grid, partition.begin(rank), partition.end(rank), out);
                          });
}

}  // namespace block_eigs
