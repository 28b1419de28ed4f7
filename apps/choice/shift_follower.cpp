#include "apps/choice/shift_follower.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace block_eigs {

namespace {

constexpr int most_moves = 10;
/// Of rounding errors, within which nothing can be told apart.
constexpr double nearest = 16.0;

}  // namespace

void ShiftFollower::begin(double sigma, const Patience& patience) {
  sigma_ = sigma;
  patience_ = patience;
  iterations_ = 0;
}

double ShiftFollower::margin() const {
  const double reach = left_.back() - left_.front();
  return std::max({reach, 2.0 * residual_, rounding_});
}

bool ShiftFollower::proceed(const IterationReport& report) {
  ++iterations_;
  const auto done = std::min(static_cast<std::size_t>(std::max(report.converged, 0)), report.eigenvalues.size());
  found_.clear();
  left_.clear();
  for (std::size_t j = 0; j < report.eigenvalues.size(); ++j) {
    const double value = sign_ * report.eigenvalues[j];
    if (!std::isfinite(value) || (j >= done && !std::isfinite(report.residual_norms[j]))) break;
    (j < done ? found_ : left_).push_back(value);
  }
  if (left_.empty()) return true;
  residual_ = residual_unit_ * report.residual_norms[done];
  if (!std::isfinite(sigma_) || iterations_ < patience_.steps || moves_ >= most_moves) return true;
  const double distance = left_.front() - sign_ * sigma_;
  if (distance <= patience_.far * std::max(margin(), nearest * rounding_)) return true;
  ++moves_;
  return false;
}

void ShiftFollower::aim(ShiftTarget& target, int columns) const {
  if (left_.empty()) return;
  const std::size_t along = std::min(found_.size(), static_cast<std::size_t>(columns));
  target.near = sign_ * (along < found_.size() ? found_[along] : left_.front());
  target.margin = margin();
  target.found.clear();
  for (std::size_t j = 0; j < along; ++j) target.found.push_back(sign_ * found_[j]);
}

}  // namespace block_eigs
