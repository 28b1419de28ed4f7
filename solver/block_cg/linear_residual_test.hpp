#pragma once

#include <algorithm>

#include "solver/report.hpp"

namespace block_eigs {

/// Decides when a right-hand side f of A x = f is done, from the norms of f and the residual f - A x and the scale
/// of A x: a bound or estimate of the norm of |A| |x|, which rounding errors in A x are relative to. That is
/// product_scale(), or what RoundingProbe finds where this says too little.
class LinearResidualTest {
 public:
  /// ||A||inf, and epsilon of the arithmetic.
  LinearResidualTest(double tolerance, double norm_a, double epsilon)
      : tolerance_(tolerance), norm_a_(norm_a), epsilon_(epsilon) {}

  double norm_a() const { return norm_a_; }
  /// A lower bound of ||A||, for matrices that do not know their norm.
  void raise_norm(double bound) { norm_a_ = std::max(norm_a_, bound); }
  /// The same A to another tolerance.
  LinearResidualTest with_tolerance(double tolerance) const { return {tolerance, norm_a_, epsilon_}; }

  double limit(double rhs_norm) const { return tolerance_ * rhs_norm; }
  /// ||A||inf ||x||, a bound; 0 where ||A|| is not known.
  double product_scale(double solution_norm) const { return norm_a_ > 0.0 ? norm_a_ * solution_norm : 0.0; }
  /// Rounding errors in f - A x: residuals below say nothing more.
  double accuracy_limit(double rhs_norm, double product_scale) const {
    return 10.0 * epsilon_ * (product_scale + rhs_norm);
  }
  /// Whether x is so large that rounding errors in A x leave nothing of f: that solves nothing.
  bool beyond_reach(double rhs_norm, double product_scale) const {
    return !(accuracy_limit(rhs_norm, product_scale) <= 0.1 * rhs_norm);
  }

  /// `share` of the tolerance is what it may leave.
  Outcome judge(double residual, double rhs_norm, double product_scale, double share = 1.0) const {
    if (residual <= share * limit(rhs_norm)) return Outcome::converged;
    const bool small = residual <= accuracy_limit(rhs_norm, product_scale);
    return small && !beyond_reach(rhs_norm, product_scale) ? Outcome::at_accuracy_limit : Outcome::not_converged;
  }

 private:
  double tolerance_;
  double norm_a_;
  double epsilon_;
};

}  // namespace block_eigs
