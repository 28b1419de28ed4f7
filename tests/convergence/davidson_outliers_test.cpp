#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "solver/lobpcg/lobpcg.hpp"
#include "solver/lobpcg/lobpcg_mixed.hpp"
#include "tests/support/eigen_problem.hpp"
#include "tests/support/linear_problem.hpp"
#include "tests/support/turned_diagonal.hpp"

// Filters of matrices some eigenvalues of which lie far beyond all others at the end that is not wanted. The
// eigenvalues are known, for the matrices were made of them.
namespace block_eigs {
namespace {

constexpr int pairs = 8;

/// Ascending: that many values evenly from `from` to `to`, and others beyond them.
std::vector<double> with_outliers(double from, double to, int count, std::vector<double> others) {
  for (int i = 0; i < count; ++i) others.push_back(from + (to - from) * i / (count - 1));
  std::sort(others.begin(), others.end());
  return others;
}

/// From 1e6 down to 2e3, each 0.6 times the one before.
std::vector<double> falling(int count) {
  std::vector<double> values;
  for (double value = 1e6; static_cast<int>(values.size()) < count; value *= 0.6) values.push_back(value);
  return values;
}

LobpcgOptions filters(bool expects_outliers, Which which = Which::smallest) {
  LobpcgOptions options;
  options.pairs = pairs;
  options.which = which;
  options.tolerance = 1e-8;
  options.max_iterations = 200;
  options.dense_up_to = 0;
  options.filtered_start = true;
  options.expects_outliers = expects_outliers;
  return options;
}

long products_of(const EigenResult<double>& result) {
  long products = 0;
  for (const LobpcgIteration& iteration : result.history) products += iteration.products;
  return products;
}

EigenResult<double> solve(const std::vector<double>& values, const LobpcgOptions& options) {
  test::RuleSource source = test::turned_diagonal(values);
  test::Problem<double> problem(source);
  auto result = lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, options);
  EXPECT_LT(test::orthogonality_error(problem.space, result.eigenvectors), 1e-12);
  return result;
}

/// The lowest values, or the highest ones, from the end on.
void expect_pairs(const EigenResult<double>& result, const std::vector<double>& values, Which which,
                  double error) {
  ASSERT_EQ(result.eigenvalues.size(), static_cast<std::size_t>(pairs)) << result.remark;
  for (std::size_t j = 0; j < result.eigenvalues.size(); ++j) {
    const double exact = which == Which::smallest ? values[j] : values[values.size() - 1 - j];
    EXPECT_EQ(result.outcomes[j], Outcome::converged) << j << ' ' << result.remark;
    EXPECT_NEAR(result.eigenvalues[j], exact, error) << j;
  }
}

TEST(DavidsonOutliers, TakeNoDegreesOnceTheyAreFound) {
  const std::vector<double> values = with_outliers(0.5, 4.0, 1500, falling(12));
  const auto found = solve(values, filters(true));
  expect_pairs(found, values, Which::smallest, 1e-8);
  EXPECT_LT(products_of(found), 3000);
  EXPECT_EQ(found.history.size(), static_cast<std::size_t>(found.iterations));
  EXPECT_LT(2 * products_of(found), products_of(solve(values, filters(false))));
}

// All but the first of those that are wanted are given: nothing of them is done while that one is not.
TEST(DavidsonOutliers, GivenVectorsAreKept) {
  const std::vector<double> values = with_outliers(0.5, 4.0, 1500, falling(12));
  test::RuleSource source = test::turned_diagonal(values);
  test::Problem<double> problem(source);
  LobpcgOptions options = filters(true);
  const auto found = lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, options);
  DenseBlock<double> given = problem.space.make_block(pairs - 1);
  problem.space.copy(found.eigenvectors.columns(1, pairs - 1), given.view());
  options.max_iterations = 1;
  const auto result =
      lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr, std::move(given), options);
  ASSERT_FALSE(result.history.empty());
  const std::vector<double>& ritz = result.history.back().eigenvalues;
  for (std::size_t j = 1; j < pairs; ++j) {
    const auto is_it = [&](double value) { return std::abs(value - values[j]) < 1e-6; };
    EXPECT_TRUE(std::any_of(ritz.begin(), ritz.end(), is_it)) << j;
  }
}

TEST(DavidsonOutliers, AtTheLowerEndBesideTheLargestPairs) {
  std::vector<double> low = falling(12);
  for (double& value : low) value = -value;
  const std::vector<double> values = with_outliers(-1.0, 3.0, 1500, low);
  const auto found = solve(values, filters(true, Which::largest));
  expect_pairs(found, values, Which::largest, 1e-8);
  EXPECT_LT(products_of(found), 30'000);
}

TEST(DavidsonOutliers, AsManyCopiesAsTheSpaceFinds) {
  for (const std::size_t copies : {2, 4, 8}) {
    SCOPED_TRACE(std::to_string(copies) + " copies");
    const std::vector<double> values = with_outliers(0.5, 4.0, 1500, std::vector<double>(copies, 1e5));
    expect_pairs(solve(values, filters(true)), values, Which::smallest, 1e-8);
  }
}

// They are as long a way as they were, and nothing else must come of it.
TEST(DavidsonOutliers, MoreCopiesThanTheSpaceFinds) {
  const std::vector<double> values = with_outliers(0.5, 4.0, 1500, std::vector<double>(60, 40.0));
  expect_pairs(solve(values, filters(false)), values, Which::smallest, 1e-8);
  expect_pairs(solve(values, filters(true)), values, Which::smallest, 1e-8);
  const std::vector<double> far = with_outliers(0.5, 4.0, 1500, std::vector<double>(60, 1e6));
  const auto result = solve(far, filters(true));
  for (std::size_t j = 0; j < result.eigenvalues.size(); ++j) {
    if (result.outcomes[j] == Outcome::converged) {
      EXPECT_NEAR(result.eigenvalues[j], far[j], 1e-6) << j;
    }
  }
}

TEST(DavidsonOutliers, WhereThereAreNoneFiltersGoOnAsEver) {
  const std::vector<double> values = with_outliers(0.5, 4.0, 1500, {});
  const auto looked = solve(values, filters(true));
  const auto plain = solve(values, filters(false));
  expect_pairs(looked, values, Which::smallest, 1e-8);
  EXPECT_EQ(looked.iterations, plain.iterations);
  EXPECT_EQ(looked.eigenvalues, plain.eigenvalues);
}

// In float rounding errors of the outliers are as large as what is wanted.
TEST(DavidsonOutliers, BegunInFloat) {
  const std::vector<double> values = with_outliers(0.5, 4.0, 1500, falling(12));
  test::RuleSource source = test::turned_diagonal(values);
  test::Problem<double> problem(source);
  test::Problem<float> in_float(source);
  const auto result = lobpcg_mixed(problem.space, problem.matrix, nullptr, {&in_float.matrix, nullptr}, nullptr,
                                   {}, filters(true));
  expect_pairs(result, values, Which::smallest, 1e-8);
  EXPECT_LT(products_of(result), 30'000);
}

}  // namespace
}  // namespace block_eigs
