// Which of two results of the same problem is kept.
#include "apps/journey/better_result.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/eigen_problem.hpp"
#include "tests/support/linear_problem.hpp"

namespace block_eigs {
namespace {

class BetterResult : public testing::Test {
 protected:
  /// Of two pairs, so many of which are done, both with that residual norm.
  EigenResult<double> result(std::vector<double> values, int done, double residual) {
    EigenResult<double> made;
    made.eigenvalues = std::move(values);
    made.residual_norms.assign(2, residual);
    for (int j = 0; j < 2; ++j) made.outcomes.push_back(j < done ? Outcome::converged : Outcome::not_converged);
    made.eigenvectors = problem.space.make_block(2);
    return made;
  }

  test::RuleSource source{6, [](GlobalIndex i, GlobalIndex j) { return i == j ? 1.0 : 0.0; }};
  test::Problem<double> problem{source};
};

TEST_F(BetterResult, HasMorePairsDoneOrSmallerResiduals) {
  EXPECT_TRUE(is_ahead(result({1, 2}, 2, 0.1), result({1, 2}, 1, 0.01), Which::smallest));
  EXPECT_FALSE(is_ahead(result({1, 2}, 1, 0.01), result({1, 2}, 2, 0.1), Which::smallest));
  EXPECT_TRUE(is_ahead(result({1, 2}, 1, 0.01), result({1, 2}, 1, 0.1), Which::smallest));
  EXPECT_FALSE(is_ahead(result({1, 2}, 1, 0.1), result({1, 2}, 1, 0.1), Which::smallest));
}

// Pairs that are done may be others than the wanted ones.
TEST_F(BetterResult, IsNotFartherFromTheWantedEnd) {
  EXPECT_FALSE(is_ahead(result({5, 6}, 2, 0.1), result({1, 2}, 0, 0.1), Which::smallest));
  EXPECT_TRUE(is_ahead(result({5, 6}, 2, 0.1), result({1, 2}, 0, 0.1), Which::largest));
  EXPECT_FALSE(is_ahead(result({1, 2}, 2, 0.1), result({5, 6}, 0, 0.1), Which::largest));
  EXPECT_TRUE(is_ahead(result({1, 2.3}, 2, 0.1), result({1, 2}, 0, 0.1), Which::smallest)) << "within residuals";
}

TEST_F(BetterResult, IsNoneWithoutVectors) {
  EigenResult<double> gone = result({1, 2}, 2, 0.1);
  gone.eigenvectors = {};
  EXPECT_FALSE(is_ahead(gone, result({1, 2}, 0, 0.1), Which::smallest));
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(is_ahead(result({1, 2}, 1, 0.1), result({1, unknown}, 0, unknown), Which::smallest));
}

TEST_F(BetterResult, GivesItsPairsAndNothingElse) {
  EigenResult<double> better = result({1, 2}, 2, 0.1);
  EigenResult<double> last = result({1, 3}, 0, 0.5);
  last.iterations = 7;
  better.iterations = 3;
  take_pairs(better, last);
  EXPECT_EQ(last.eigenvalues, (std::vector<double>{1, 2}));
  EXPECT_EQ(last.outcomes, std::vector<Outcome>(2, Outcome::converged));
  EXPECT_EQ(last.iterations, 7);
  EXPECT_EQ(last.eigenvectors.cols(), 2);
}

}  // namespace
}  // namespace block_eigs
