#include "apps/input/shift_search.hpp"

#include <algorithm>
#include <utility>

namespace block_eigs {

namespace {

constexpr double growth = 8.0;
constexpr int most_tries = 16;
/// Of the norm, where nothing is known of the smallest eigenvalue.
constexpr double first_distance = 1e-3;

}  // namespace

ShiftSearch::ShiftSearch(const SpectrumStart& start)
    : closest_(rounding(start.norm)),
      bound_(start.lower_bound),
      from_(start.near ? *start.near : std::min(start.upper_bound, 0.0)),
      distance_(start.near ? std::max(start.margin, closest_) : std::max(first_distance * start.norm, closest_)),
      beyond_bound_(closest_),
      zero_first_(start.zero_first),
      zero_(start.upper_bound >= 0.0 && !(from_ < -closest_)) {
  if (!start.near && bound_ > 0.0) from_ = bound_;
}

std::optional<double> ShiftSearch::next() {
  if (std::exchange(zero_first_, false)) return 0.0;
  if (tries_++ >= most_tries) return std::nullopt;
  const double next = from_ - distance_;
  if (zero_ && next <= -closest_ && bound_ <= closest_) {
    zero_ = false;
    return -closest_;
  }
  if (next > bound_ - closest_) {
    distance_ *= growth;
    return next;
  }
  const double result = bound_ - beyond_bound_;
  beyond_bound_ *= growth;
  return result;
}

}  // namespace block_eigs
