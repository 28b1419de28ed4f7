#pragma once

#include <limits>
#include <optional>

#include "apps/choice/shift_follower.hpp"
#include "solver/report.hpp"

namespace block_eigs {

/// When Lanczos iterations begin anew with factors for another sigma, and how many of the pairs that they have
/// found go along to it.
class LanczosShift {
 public:
  /// `follower`, which lives longer, tells where the next sigma is to be looked for.
  explicit LanczosShift(ShiftFollower& follower) : follower_(follower) {}

  /// Iterations begin with factors for `sigma`, NaN where it is not to move, beside so many pairs that were found.
  void begin(double sigma, int known);
  /// Takes a step into account, whose eigenvalues and residual norms are of the wanted pairs and of those that
  /// are looked for beside them; false where another sigma is wanted.
  bool proceed(const IterationReport& report);
  /// Factors for `sigma` were made in place, to be near a value that one was looked for by. From here on it stays
  /// where it is not much nearer.
  void moved_to(double sigma, std::optional<double> near);

  /// Whether the last step was one with which another sigma was wanted.
  bool moves() const { return moves_; }
  /// Of the pairs of that step, the first ones: those that go along.
  int along() const { return along_; }
  /// Whether zero is looked at first: factors of A itself.
  bool to_zero() const { return to_zero_; }

 private:
  bool is_hidden(const IterationReport& report);
  bool is_far(const IterationReport& report);
  bool passes_found(const IterationReport& report);

  ShiftFollower& follower_;
  double sigma_ = std::numeric_limits<double>::quiet_NaN();
  bool moves_ = false;
  bool stays_ = false;  ///< sigma, for none is nearer
  bool was_hidden_ = false;
  bool to_zero_ = false;
  int along_ = 0;
  int converged_ = 0;
  int steps_at_rest_ = 0;  ///< without one more
};

}  // namespace block_eigs
