#pragma once

#include <cmath>
#include <limits>
#include <optional>

namespace block_eigs {

/// What is known of the lower end of a spectrum before a number below all of it is looked for.
struct SpectrumStart {
  double norm = 0.0;               ///< no eigenvalue is larger in magnitude
  double upper_bound = 0.0;        ///< some eigenvalue is no larger
  double lower_bound = -HUGE_VAL;  ///< none is smaller, but for rounding errors
  std::optional<double> near{};    ///< an approximation of the smallest: a Ritz value, which is no smaller
  double margin = 0.0;             ///< of it: residuals, and how far the wanted ones reach
  bool zero_first = false;         ///< the wanted ones are nearer to zero than any number below it may be
};

/// Numbers below the smallest eigenvalue, as near as it may be, one after the other until a factorisation finds
/// none below: from the approximation less its margin, and farther and farther out. Zero less what rounding errors
/// need is among them, for matrices that are semidefinite, whether their rows show it or not. See docs/theory.md,
/// "direct".
class ShiftSearch {
 public:
  explicit ShiftSearch(const SpectrumStart& start);
  /// The next one to try; none after so many that this is no spectrum.
  std::optional<double> next();
  /// What rounding errors of a factorisation amount to, in units of eigenvalues; of a matrix of zeros, beside
  /// which every unit is as good as another, what they are in that of B.
  static double rounding(double norm) {
    return 100.0 * std::numeric_limits<double>::epsilon() * (norm > 0.0 ? norm : 1.0);
  }

 private:
  double closest_;
  double bound_;
  double from_;
  double distance_;
  double beyond_bound_;
  bool zero_first_;  ///< still to be tried, zero itself
  bool zero_;        ///< likewise, less what rounding errors need
  int tries_ = 0;
};

}  // namespace block_eigs
