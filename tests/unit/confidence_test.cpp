// The probability that a probe is wrong, against drawing blocks by the thousand.
#include "solver/proof/confidence.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "solver/proof/effort.hpp"
#include "solver/small/lapack.hpp"

namespace block_eigs {
namespace {

/// X^T S X of a block of m normal columns: weights w on vectors of positive energy, -e on the one that was missed.
SmallMatrix draw(std::mt19937_64& random, int m, const std::vector<double>& weights, double e) {
  std::normal_distribution<double> normal;
  SmallMatrix h(m, m);
  std::vector<double> g(static_cast<std::size_t>(m));
  const auto add = [&](double weight) {
    for (double& value : g) value = normal(random);
    for (int j = 0; j < m; ++j) {
      for (int i = 0; i < m; ++i)
        h(i, j) += weight * g[static_cast<std::size_t>(i)] * g[static_cast<std::size_t>(j)];
    }
  };
  for (const double weight : weights) add(weight);
  add(-e);
  return h;
}

/// How often, of `draws`, nothing is seen and the formula nevertheless says that this has `probability` or less.
int wrong_statements(int m, const std::vector<double>& weights, double e, double probability, int draws) {
  std::mt19937_64 random(static_cast<std::uint64_t>(1000 * e) + static_cast<std::uint64_t>(m));
  int wrong = 0;
  for (int k = 0; k < draws; ++k) {
    SmallMatrix h = draw(random, m, weights, e);
    double energy = 0.0;
    for (int j = 0; j < m; ++j) energy += h(j, j);
    if (lapack::symmetric_eigen(h).front() < 0.0) continue;
    if (miss_probability(m, energy, e) <= probability) ++wrong;
  }
  return wrong;
}

TEST(Confidence, WrongStatementsAreAsRareAsTheFormulaSays) {
  constexpr int draws = 3000;
  const std::vector<std::vector<double>> spectra{
      {1.0}, {0.5, 0.5}, {0.9, 0.05, 0.05}, std::vector<double>(40, 0.025)};
  for (const int m : {4, 8}) {
    for (const std::vector<double>& weights : spectra) {
      for (const double e : {0.3, 1.0, 3.0, 10.0, 30.0, 100.0}) {
        for (const double probability : {0.1, 0.01}) {
          // Three standard deviations of a count with that mean.
          const double mean = probability * draws;
          EXPECT_LE(wrong_statements(m, weights, e, probability, draws), mean + 3.0 * std::sqrt(mean))
              << m << " columns, " << weights.size() << " weights, e " << e << ", probability " << probability;
        }
      }
    }
  }
}

TEST(Confidence, StatementsAreNotEmpty) {
  // One vector of energy 30 against a bulk of 1 in all: seen nearly always, and said so.
  EXPECT_LT(miss_probability(4, 4.0, 100.0), 0.01);
  EXPECT_LT(miss_probability(8, 8.0, 30.0), 0.01);
  EXPECT_EQ(miss_probability(4, 4.0, 0.0), 1.0);
  EXPECT_EQ(miss_probability(4, 1e9, 1.0), 1.0);
}

TEST(Confidence, TheSmallestGapIsTheOneThatIsJustVisible) {
  const ProbeFilter filter{0.05, 12.0, 80};
  const ProbeStatistics statistics{.columns = 4, .energy = 1e7};
  const double gap = smallest_visible_gap(statistics, filter, 0.01, 24.0);
  ASSERT_GT(gap, 0.0);
  ASSERT_LT(gap, 1.0);
  const auto probability = [&](double at) {
    const double value = std::cosh(80.0 * std::acosh((6.025 + at) / 5.975));
    return miss_probability(4, 1e7, at * value * value);
  };
  EXPECT_NEAR(probability(gap), 0.01, 1e-6);
  EXPECT_GT(probability(0.5 * gap), 0.01);
  EXPECT_TRUE(std::isinf(smallest_visible_gap({.columns = 4, .energy = 1e300}, {0.5, 1.0, 1}, 0.01, 1.0)));
}

TEST(Confidence, ProbesCostATenthOfTheIterationsByTheirProducts) {
  const std::vector<LobpcgIteration> history(20, {{}, {}, 0.0, 10, 10});
  const int in_double = probe_degree(history, {.preconditioned = true, .columns = 4}, 0.1);
  EXPECT_EQ(in_double, 4);  // 20 products, of which start and end take 4.7 and a degree 3.6
  const int in_float = probe_degree(history, {.preconditioned = true, .in_float = true, .columns = 4}, 0.1);
  EXPECT_EQ(in_float, 4);  // with twice the columns: 5.6 and 3.1
  EXPECT_EQ(probe_degree({}, {.preconditioned = true}, 0.1), 0);
  EXPECT_EQ(probe_degree({{{}, {}, 0.0, 10, 10}}, {.preconditioned = true}, 0.1), 0);
  // Without a preconditioner iterations count for what they do beside the product, too.
  EXPECT_GT(probe_degree(history, {.columns = 4}, 0.1), in_double);
}

}  // namespace
}  // namespace block_eigs
