#include "solver/lanczos/lanczos_ritz.hpp"

#include <algorithm>

namespace block_eigs {

namespace {

/// How far a value may be from that one and count as the same.
double what_is_same(double value, const std::function<double(double)>& limit) {
  constexpr double rounding = 1e-10;
  constexpr double limits = 10.0;
  return std::max(rounding * value, limits * limit(value));
}

}  // namespace

bool are_done(const LanczosRitz& ritz, int count, const std::function<double(double)>& limit) {
  const auto needed = static_cast<std::size_t>(count);
  if (ritz.values.size() < needed) return false;
  for (std::size_t j = 0; j < needed; ++j) {
    if (!(ritz.values[j] > 0.0) || !(ritz.residuals[j] <= limit(ritz.values[j]))) return false;
  }
  return true;
}

bool have_settled(const LanczosRitz& ritz, int count, const std::function<double(double)>& limit) {
  const auto others = static_cast<std::size_t>(count);
  if (ritz.values.size() <= others) return false;
  const double last = ritz.values[others - 1];
  const double reach = last + what_is_same(last, limit);
  for (std::size_t j = others; j < ritz.values.size(); ++j) {
    if (ritz.values[j] + ritz.residuals[j] >= reach) return false;
  }
  return true;
}

int values_before_cluster(const std::vector<double>& values, int count, int members,
                          const std::function<double(double)>& limit) {
  for (int first = 0, end = 0; first < count; first = end) {
    const double value = values[static_cast<std::size_t>(first)];
    const double same = what_is_same(value, limit);
    end = first + 1;
    while (end < count && value - values[static_cast<std::size_t>(end)] <= same) ++end;
    if (end - first >= members) return first;
  }
  return count;
}

int far_apart(const LanczosRitz& ritz, int wanted) {
  constexpr double far = 1e5;
  constexpr double mixed = 1e-12;
  constexpr double turned = 1e-8;
  const int known = std::min(wanted, static_cast<int>(ritz.values.size()));
  const double others = ritz.values[static_cast<std::size_t>(known) - 1];
  int count = 0;
  for (; count < known - 1; ++count) {
    const double value = ritz.values[static_cast<std::size_t>(count)];
    const double residual = ritz.residuals[static_cast<std::size_t>(count)];
    if (!(value > far * others) || residual > turned * value || residual * residual > mixed * value * others)
      break;
  }
  return count;
}

}  // namespace block_eigs
