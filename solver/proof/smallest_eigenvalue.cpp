#include "solver/proof/smallest_eigenvalue.hpp"

#include <cmath>
#include <limits>

#include "solver/lanczos/lanczos_recurrence.hpp"
#include "solver/small/lapack.hpp"

namespace block_eigs {

namespace {

/// Of the tridiagonal matrix. Collective.
double smallest_ritz_value(BlockSpace<double>& space, const LanczosRecurrence<double>& lanczos) {
  SmallMatrix result(1, 1);
  space.on_root(
      [&] { result(0, 0) = lapack::tridiagonal_eigenvalues(lanczos.diagonal(), lanczos.beside()).front(); },
      {&result});
  return result(0, 0);
}

}  // namespace

double probable_smallest_eigenvalue(BlockSpace<double>& space, LinearOperator<double>& b,
                                    const Buffer<double>& scale, double upper, double probability) {
  constexpr int most_steps = 100;
  constexpr int steps_between_looks = 20;
  constexpr std::uint64_t seed = 0x5eed0fb;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  LanczosRecurrence<double> lanczos(space, b, &scale, seed);
  if (!lanczos.begun()) return nan;
  const double n = static_cast<double>(space.dimension());
  for (int k = 1; k <= most_steps; ++k) {
    lanczos.step();
    const bool exhausted = !(lanczos.beside().back() > std::numeric_limits<double>::epsilon() * upper);
    if (!exhausted && k % steps_between_looks != 0) continue;
    // Of upper I - D B D the vectors are the same, and its largest Ritz value is this one's distance to `upper`.
    const double smallest = smallest_ritz_value(space, lanczos);
    const double root = std::log(1.648 * std::sqrt(n) / probability) / (2.0 * k - 1.0);
    const double bound = exhausted ? smallest : upper - (upper - smallest) / (1.0 - root * root);
    if (root < 1.0 && bound > 0.5 * smallest) return bound;
    if (exhausted) return bound > 0.0 ? bound : nan;
    if (k == most_steps && root < 1.0 && bound > 0.0) return bound;
  }
  return nan;
}

}  // namespace block_eigs
