#pragma once

#include <limits>
#include <vector>

#include "apps/config/config.hpp"
#include "solver/report.hpp"

namespace block_eigs {

/// Steps of a solver that factors have before another sigma is thought of, and how many times farther sigma may be
/// than what is to be told apart.
struct Patience {
  int steps = 8;  ///< with a good sigma that is all that LOBPCG needs
  double far = 30.0;
};
/// Of Lanczos iterations, which begin anew with another sigma, and whose steps are of several solves.
inline constexpr Patience patience_of_lanczos{2, 6.0};

/// Where the shift of a factorisation goes while eigenpairs converge: shift-invert tells wanted values apart by
/// their distances from sigma, so that it follows the first that is not found yet once that is many times closer
/// to the others than to sigma. See docs/theory.md, "direct".
class ShiftFollower {
 public:
  /// For the pairs at `end`. Eigenvalues are known within `rounding`, and to residual_unit times the norm of a
  /// residual.
  ShiftFollower(Which end, double rounding, double residual_unit)
      : sign_(end == Which::largest ? -1.0 : 1.0), rounding_(rounding), residual_unit_(residual_unit) {}

  /// Iterations begin with factors for `sigma`; NaN where there are none, or sigma is to stay.
  void begin(double sigma, const Patience& patience = {});
  /// Takes an iteration into account; false where a sigma closer to the values that are left is expected to pay.
  bool proceed(const IterationReport& report);
  /// Pairs that were found are not at hand any more.
  void forget() { found_.clear(); }
  /// What a better sigma is looked for by, from what was seen last, where so many vectors go along: pairs that
  /// were found beyond these are not at hand any more.
  void aim(ShiftTarget& target, int columns) const;

 private:
  double margin() const;

  double sign_;
  double rounding_;
  double residual_unit_;
  double sigma_ = std::numeric_limits<double>::quiet_NaN();
  Patience patience_{};
  int iterations_ = 0;
  int moves_ = 0;
  std::vector<double> found_;  ///< converged, by sign, ascending
  std::vector<double> left_;   ///< the other wanted ones
  double residual_ = 0.0;      ///< of the first that is left, in units of eigenvalues
};

}  // namespace block_eigs
