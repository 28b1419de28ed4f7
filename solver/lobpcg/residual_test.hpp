#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "solver/lobpcg/lobpcg.hpp"

namespace block_eigs {

/// Numbers of one Ritz pair.
struct RitzPair {
  double value = 0.0;
  double residual = 0.0;    ///< ||A x - lambda B x||
  double image_norm = 1.0;  ///< ||B x||, 1 where B is the identity
  double norm = 1.0;        ///< ||x||
  double a_size = 0.0;      ///< a bound or estimate of || |A| |x| ||, which rounding errors in A x are relative to
  double b_size = 1.0;      ///< likewise of || |B| |x| ||
  double move = 0.0;        ///< by how much the last step changed the value; infinite where it is new
};

/// Infinity norms of A and B, and what else is known of them all over.
struct OperatorNorms {
  double a = 0.0;
  double b = 1.0;
  double typical_a = 0.0;  ///< sum of magnitudes in a typical row of A
  bool with_mass = false;  ///< B is not the identity
};

/// Decides when a pair is done.
///
/// Two limits say that the arithmetic can do no better. Residuals within rounding errors of A x and B x, by the
/// sizes of the pair, always do. So do those within rounding errors of the norms, which are larger where rows of A
/// differ in size, as long as they leave the value its leading digits; iterations go on until it has stopped
/// moving.
class ResidualTest {
 public:
  /// `epsilon` is that of the arithmetic.
  ResidualTest(const LobpcgOptions& options, const OperatorNorms& norms, double epsilon)
      : options_(options), norms_(norms), epsilon_(epsilon) {}

  const OperatorNorms& norms() const { return norms_; }

  Outcome judge(const RitzPair& pair) const {
    const bool resolved = resolves(pair);
    const bool within_limit = pair.residual <= limit(pair);
    if (within_limit && (resolved || options_.convergence != Convergence::norm)) return Outcome::converged;
    if (pair.residual <= accuracy_limit(pair) && resolved) return Outcome::at_accuracy_limit;
    return Outcome::not_converged;
  }
  /// Whether x^T B x = 1 is more than rounding errors of the product. If not, lambda is no number that the
  /// arithmetic could improve, whatever its residual.
  bool resolves(const RitzPair& pair) const { return 10.0 * epsilon_ * pair.b_size * pair.norm < 1.0; }
  /// Whether the residual is within `share` of the limit and of `most`, or as small as the arithmetic allows,
  /// while the Ritz value has come to rest: its last move is nothing beside it, or rounding errors. With an
  /// ill-conditioned B or a badly scaled A small residuals alone come long before that.
  bool within(double share, double most, const RitzPair& pair) const {
    constexpr double nothing = 1e-7;
    constexpr double less_than_nothing = 1e-12;
    const double size = std::abs(pair.value);
    const double rounding = 10.0 * epsilon_ * pair.a_size * pair.norm;
    if (pair.residual <= share * std::min(limit(pair), most)) {
      // Where B is the identity, a residual bounds the error of the value.
      if (options_.convergence == Convergence::absolute || !norms_.with_mass) return true;
      const bool by_norm = options_.convergence == Convergence::norm;
      const double scale = size + (by_norm ? norms_.a / norms_.b : 0.0);
      return (!by_norm || resolves(pair)) && pair.move <= options_.tolerance * scale + rounding;
    }
    if (!resolves(pair)) return false;
    return (pair.residual <= rounding_limit(pair) && pair.move <= nothing * size + rounding) ||
           (pair.residual <= resting_limit(pair) && pair.move <= less_than_nothing * size + rounding);
  }
  /// What the arithmetic leaves of a residual at worst.
  double accuracy_limit(const RitzPair& pair) const { return std::max(rounding_limit(pair), resting_limit(pair)); }
  /// No rounding errors in A x and B x are larger.
  double largest_rounding(const RitzPair& pair) const {
    return 10.0 * epsilon_ * (norms_.a + std::abs(pair.value) * norms_.b) * pair.norm;
  }
  /// The largest residual that is done.
  double enough(const RitzPair& pair) const { return std::max(limit(pair), accuracy_limit(pair)); }
  /// residual over what would do; 1 or less is done.
  double ratio(const RitzPair& pair) const {
    const double enough = this->enough(pair);
    return enough > 0.0 ? pair.residual / enough
                        : (pair.residual > 0.0 ? std::numeric_limits<double>::infinity() : 0.0);
  }
  /// residual over what will do in the end, in double.
  double distance(const RitzPair& pair) const {
    constexpr double epsilon = std::numeric_limits<double>::epsilon();
    const bool in_float = epsilon_ > std::sqrt(epsilon);
    const double enough =
        in_float ? std::max(limit(pair), 10.0 * epsilon * norms_.typical_a * pair.norm) : this->enough(pair);
    return enough > 0.0 ? pair.residual / enough : ratio(pair);
  }
  /// Whether the outcome hangs on how large rounding errors in A x and B x really are.
  bool hangs_on_sizes(const RitzPair& pair) const {
    return (pair.residual > limit(pair) && pair.residual <= largest_rounding(pair)) || !resolves(pair);
  }
  /// Whether rounding errors that add up over iterations come near the tolerance.
  bool rounding_matters(const RitzPair& pair) const { return limit(pair) < 1e3 * largest_rounding(pair); }
  /// Whether rounding errors matter for a pair whose residual has come within six digits of what they leave.
  bool near_rounding(const RitzPair& pair) const {
    return pair.residual < 1e6 * largest_rounding(pair) && rounding_matters(pair);
  }

 private:
  double limit(const RitzPair& pair) const {
    switch (options_.convergence) {
      case Convergence::relative:
        return options_.tolerance * std::abs(pair.value) * pair.image_norm;
      case Convergence::norm:
        return options_.tolerance * (norms_.a + std::abs(pair.value) * norms_.b) * pair.norm;
      case Convergence::absolute:
        return options_.tolerance;
    }
    return 0.0;
  }

  /// Rounding errors in A x and B x.
  double rounding_limit(const RitzPair& pair) const {
    return 10.0 * epsilon_ * (pair.a_size + std::abs(pair.value) * pair.b_size);
  }
  /// Rounding errors by the norms, up to a ten-thousandth of the value and to what is zero in a typical row.
  double resting_limit(const RitzPair& pair) const {
    return std::min(largest_rounding(pair), leading_digits(pair));
  }
  double leading_digits(const RitzPair& pair) const {
    constexpr double share = 1e-4;
    constexpr double zero = 1e-11;
    return std::max(share * std::abs(pair.value) * pair.image_norm, zero * norms_.typical_a * pair.norm);
  }

  LobpcgOptions options_;
  OperatorNorms norms_;
  double epsilon_;
};

}  // namespace block_eigs
