#include "solver/lanczos/lanczos_ritz.hpp"

#include <algorithm>

namespace block_eigs {

int largest_cluster(const std::vector<double>& values, int count, const std::function<double(double)>& limit) {
  constexpr double rounding = 1e-10;
  constexpr double limits = 10.0;
  int largest = 0;
  for (int first = 0, end = 0; first < count; first = end) {
    const double value = values[static_cast<std::size_t>(first)];
    const double same = std::max(rounding * value, limits * limit(value));
    end = first + 1;
    while (end < count && value - values[static_cast<std::size_t>(end)] <= same) ++end;
    largest = std::max(largest, end - first);
  }
  return largest;
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
