#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "solver/lobpcg/lobpcg.hpp"

namespace block_eigs {

/// Decides when a pair is done.
class ResidualTest {
 public:
  /// Infinity norms of A and B (1 for the identity); epsilon of the arithmetic.
  ResidualTest(const LobpcgOptions& options, double norm_a, double norm_b, double epsilon)
      : options_(options), norm_a_(norm_a), norm_b_(norm_b), epsilon_(epsilon) {}

  /// `image_norm` is ||Bx||, `norm` is ||x||.
  Outcome judge(double lambda, double residual, double image_norm, double norm) const {
    const bool resolved = resolves(norm);
    const bool within_limit = residual <= limit(lambda, image_norm, norm);
    if (within_limit && (resolved || options_.convergence != Convergence::norm)) return Outcome::converged;
    if (residual <= accuracy_limit(lambda, norm) && resolved) return Outcome::at_accuracy_limit;
    return Outcome::not_converged;
  }
  /// Whether x^T B x = 1 is more than rounding errors of the product. If not, lambda is no number that the
  /// arithmetic could improve, whatever its residual.
  bool resolves(double norm) const { return 10.0 * epsilon_ * norm_b_ * norm * norm < 1.0; }
  /// Whether the residual is within `share` of the limit and of `most`, or as small as the arithmetic allows,
  /// while the Ritz value has come to rest: its last `move` is nothing beside it, or rounding errors. Where limits
  /// go with
  /// ||A|| and ||B||, with an ill-conditioned B or a badly scaled A, small residuals alone come long before that.
  bool within(double share, double most, double lambda, double residual, double image_norm, double norm,
              double move) const {
    constexpr double nothing = 1e-7;
    const double rounding = 10.0 * epsilon_ * norm_a_ * norm * norm;
    const double limit = share * std::min(this->limit(lambda, image_norm, norm), most);
    if (residual <= limit) {
      return options_.convergence != Convergence::norm ||
             (resolves(norm) && move <= options_.tolerance * (std::abs(lambda) + norm_a_ / norm_b_) + rounding);
    }
    return residual <= accuracy_limit(lambda, norm) && resolves(norm) &&
           move <= nothing * std::abs(lambda) + rounding;
  }
  /// What rounding errors leave of a residual.
  double accuracy_limit(double lambda, double norm) const {
    return 10.0 * epsilon_ * (norm_a_ + std::abs(lambda) * norm_b_) * norm;
  }
  double norm_a() const { return norm_a_; }
  /// The largest residual that is done.
  double enough(double lambda, double image_norm, double norm) const {
    return std::max(limit(lambda, image_norm, norm), accuracy_limit(lambda, norm));
  }
  /// residual over what would do; 1 or less is done.
  double ratio(double lambda, double residual, double image_norm, double norm) const {
    const double enough = this->enough(lambda, image_norm, norm);
    return enough > 0.0 ? residual / enough : (residual > 0.0 ? std::numeric_limits<double>::infinity() : 0.0);
  }
  /// Whether rounding errors that add up over iterations come near the tolerance at `lambda`.
  bool rounding_matters(double lambda, double image_norm, double norm) const {
    return limit(lambda, image_norm, norm) < 1e3 * accuracy_limit(lambda, norm);
  }
  /// Whether rounding errors matter for a pair whose residual has come within six digits of what they leave.
  bool near_rounding(double lambda, double residual, double image_norm, double norm) const {
    return residual < 1e6 * accuracy_limit(lambda, norm) && rounding_matters(lambda, image_norm, norm);
  }

 private:
  double limit(double lambda, double image_norm, double norm) const {
    switch (options_.convergence) {
      case Convergence::relative:
        return options_.tolerance * std::abs(lambda) * image_norm;
      case Convergence::norm:
        return options_.tolerance * (norm_a_ + std::abs(lambda) * norm_b_) * norm;
      case Convergence::absolute:
        return options_.tolerance;
    }
    return 0.0;
  }

  LobpcgOptions options_;
  double norm_a_;
  double norm_b_;
  double epsilon_;
};

}  // namespace block_eigs
