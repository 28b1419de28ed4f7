#include "solver/proof/confidence.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace block_eigs {

namespace {

/// The logarithm of K of miss_probability.
double log_constant(double q) { return -q * std::numbers::ln2 - std::lgamma(q + 1.0); }

/// The logarithm of z: where the bound z^r Gamma(r + 1/2) / (sqrt(pi) Gamma(r + 1)), r = m/2, of the probability
/// that the missed vector is outweighed reaches 1.
double log_saturation(double r) {
  return (0.5 * std::log(std::numbers::pi) + std::lgamma(r + 1.0) - std::lgamma(r + 0.5)) / r;
}

/// The logarithm of energy / e at which miss_probability is `probability`.
double log_ratio(int columns, double probability) {
  const double q = 0.5 * (columns - 1);
  return (std::log(probability) - log_constant(q)) / q + log_saturation(0.5 * columns);
}

}  // namespace

double ProbeFilter::growth(double nu) const {
  const double center = 0.5 * (upper + lower);
  const double half_width = 0.5 * (upper - lower);
  return std::acosh(std::max((center - nu) / half_width, 1.0));
}

double ProbeFilter::log_value(double nu) const {
  const double argument = degree * growth(nu);
  // log cosh, for arguments whose cosh would overflow too.
  return argument + std::log1p(std::exp(-2.0 * argument)) - std::numbers::ln2;
}

double miss_probability(int columns, double energy, double e) {
  if (!(e > 0.0)) return 1.0;
  if (!(energy > 0.0)) return 0.0;
  const double q = 0.5 * (columns - 1);
  return std::min(
      1.0, std::exp(log_constant(q) + q * (std::log(energy) - std::log(e) - log_saturation(0.5 * columns))));
}

double smallest_visible_gap(const ProbeStatistics& statistics, const ProbeFilter& filter, double probability,
                            double largest) {
  if (!(statistics.energy > 0.0) || !(largest > 0.0)) return std::numeric_limits<double>::infinity();
  const double needed = std::log(statistics.energy) - log_ratio(statistics.columns, probability);
  const auto visible = [&](double log_gap) {
    const double nu = -std::exp(log_gap) * statistics.response;
    return log_gap + 2.0 * std::log(statistics.overlap) + 2.0 * filter.log_value(nu) >= needed;
  };
  double high = std::log(largest);
  if (!visible(high)) return std::numeric_limits<double>::infinity();
  constexpr double smallest = 1e-16;
  double low = high + std::log(smallest);
  if (visible(low)) return smallest * largest;
  constexpr int halvings = 60;
  for (int i = 0; i < halvings; ++i) {
    const double middle = 0.5 * (low + high);
    (visible(middle) ? high : low) = middle;
  }
  return std::exp(high);
}

}  // namespace block_eigs
