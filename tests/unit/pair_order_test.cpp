// Pairs that were found in another order than they stand in.
#include "apps/journey/pair_order.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/eigen_problem.hpp"
#include "tests/support/linear_problem.hpp"

namespace block_eigs {
namespace {

TEST(PairOrder, NothingToDoWhereTheyStandInIt) {
  EXPECT_TRUE(pair_order({}, Which::smallest).empty());
  EXPECT_TRUE(pair_order({-1.0, 2.0, 2.0}, Which::smallest).empty());
  EXPECT_TRUE(pair_order({2.0, 2.0, -1.0}, Which::largest).empty());
}

TEST(PairOrder, WhatIsNotKnownComesLast) {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(pair_order({unknown, 3.0, 1.0}, Which::smallest), (std::vector<std::size_t>{2, 1, 0}));
  EXPECT_EQ(pair_order({unknown, 1.0, 3.0}, Which::largest), (std::vector<std::size_t>{2, 1, 0}));
}

TEST(PairOrder, AllThatAPairHasGoesWithItsValue) {
  test::RuleSource source(6, [](GlobalIndex i, GlobalIndex j) { return i == j ? 1.0 : 0.0; });
  test::Problem<double> problem(source);
  EigenResult<double> result;
  result.eigenvalues = {1.0, 5.0, 2.0};
  result.residual_norms = {0.1, 0.5, 0.2};
  result.error_bounds = {10.0, 50.0, 20.0};
  result.outcomes = {Outcome::converged, Outcome::not_converged, Outcome::at_accuracy_limit};
  result.eigenvectors = problem.space.make_block(3);
  const LocalIndex rows = problem.space.local_rows();
  std::vector<double> columns;
  for (LocalIndex i = 0; i < rows; ++i) columns.insert(columns.end(), {1.0, 5.0, 2.0});
  result.eigenvectors.from_host(columns.data());
  put_in_order(problem.space, result, Which::smallest);
  EXPECT_EQ(result.eigenvalues, (std::vector<double>{1.0, 2.0, 5.0}));
  EXPECT_EQ(result.residual_norms, (std::vector<double>{0.1, 0.2, 0.5}));
  EXPECT_EQ(result.error_bounds, (std::vector<double>{10.0, 20.0, 50.0}));
  EXPECT_EQ(result.outcomes,
            (std::vector<Outcome>{Outcome::converged, Outcome::at_accuracy_limit, Outcome::not_converged}));
  const std::vector<double> moved = result.eigenvectors.to_host();
  for (LocalIndex i = 0; i < rows; ++i) {
    const std::size_t first = 3 * static_cast<std::size_t>(i);
    EXPECT_EQ((std::vector<double>(&moved[first], &moved[first] + 3)), (std::vector<double>{1.0, 2.0, 5.0}));
  }
}

}  // namespace
}  // namespace block_eigs
