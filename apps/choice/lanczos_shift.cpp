#include "apps/choice/lanczos_shift.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace block_eigs {

void LanczosShift::begin(double sigma, int known) {
  follower_.begin(sigma, patience_of_lanczos);
  sigma_ = sigma;
  moves_ = to_zero_ = false;
  along_ = converged_ = known;
  steps_at_rest_ = 0;
}

bool LanczosShift::proceed(const IterationReport& report) {
  const bool known = std::isfinite(report.eigenvalues[static_cast<std::size_t>(report.wanted) - 1]);
  if (stays_ || !known || report.converged == report.wanted) return true;
  moves_ = is_hidden(report) || is_far(report) || passes_found(report);
  return !moves_;
}

/// Values within the distance that sigma keeps from zero are hidden by that distance: factors of A itself, where
/// its pivots are positive, tell them apart.
bool LanczosShift::is_hidden(const IterationReport& report) {
  const double first = report.eigenvalues.front();
  const double last = report.eigenvalues[static_cast<std::size_t>(report.wanted) - 1];
  const bool beyond_zero = sigma_ * first < 0.0 && sigma_ * last < 0.0;
  if (was_hidden_ || along_ > 0 || !beyond_zero) return false;
  was_hidden_ = to_zero_ = std::max(std::abs(first), std::abs(last)) < std::abs(sigma_);
  return to_zero_;
}

/// What this iteration has found so far does not go along: with a sigma before these they are found once more.
bool LanczosShift::is_far(const IterationReport& report) {
  IterationReport without_new = report;
  without_new.converged = along_;
  return !follower_.proceed(without_new);
}

/// Some are found, no more come, and the others are far from sigma: beyond those they are nearer.
bool LanczosShift::passes_found(const IterationReport& report) {
  constexpr int patience = 4;
  steps_at_rest_ = report.converged > converged_ ? 0 : steps_at_rest_ + 1;
  converged_ = report.converged;
  if (converged_ == along_ || steps_at_rest_ < patience) return false;
  ShiftFollower beyond_new = follower_;
  beyond_new.begin(sigma_, {.steps = 1});
  if (beyond_new.proceed(report)) return false;
  follower_ = beyond_new;
  along_ = converged_;
  return true;
}

void LanczosShift::moved_to(double sigma, std::optional<double> near) {
  constexpr double much = 0.5;
  const auto distance = [&near](double from) { return std::abs(near.value_or(from) - from); };
  stays_ = !to_zero_ && !(distance(sigma) < much * distance(sigma_));
}

}  // namespace block_eigs
