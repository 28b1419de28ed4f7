#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "solver/lobpcg/residual_test.hpp"

namespace block_eigs {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double epsilon = std::numeric_limits<double>::epsilon();

ResidualTest test_of(Convergence convergence, double tolerance) {
  LobpcgOptions options;
  options.convergence = convergence;
  options.tolerance = tolerance;
  return {options, 100.0, 2.0, epsilon};  // ||A|| = 100, ||B|| = 2
}

TEST(ResidualTest, LimitsAreThoseOfTheOptions) {
  // lambda = -5, ||Bx|| = 3, ||x|| = 0.5
  const struct {
    Convergence convergence;
    double limit;
  } cases[] = {{Convergence::relative, 1e-6 * 5.0 * 3.0},
               {Convergence::norm, 1e-6 * (100.0 + 5.0 * 2.0) * 0.5},
               {Convergence::absolute, 1e-6}};
  for (const auto& [convergence, limit] : cases) {
    const ResidualTest test = test_of(convergence, 1e-6);
    EXPECT_EQ(test.judge(-5.0, 0.999 * limit, 3.0, 0.5), Outcome::converged);
    EXPECT_EQ(test.judge(-5.0, 1.001 * limit, 3.0, 0.5), Outcome::not_converged);
    EXPECT_NEAR(test.ratio(-5.0, 2.0 * limit, 3.0, 0.5), 2.0, 1e-12);
    EXPECT_TRUE(test.within(0.25, infinity, -5.0, 0.249 * limit, 3.0, 0.5, 0.0));
    EXPECT_FALSE(test.within(0.25, infinity, -5.0, 0.251 * limit, 3.0, 0.5, 0.0));
    EXPECT_TRUE(test.within(0.25, 0.5 * limit, -5.0, 0.124 * limit, 3.0, 0.5, 0.0));
    EXPECT_FALSE(test.within(0.25, 0.5 * limit, -5.0, 0.126 * limit, 3.0, 0.5, 0.0));
  }
}

TEST(ResidualTest, TheBackwardErrorLimitIsWhereArithmeticEnds) {
  const ResidualTest test = test_of(Convergence::relative, 0.0);
  const double limit = 10.0 * epsilon * (100.0 + 5.0 * 2.0) * 0.5;
  EXPECT_EQ(test.judge(5.0, 0.999 * limit, 3.0, 0.5), Outcome::at_accuracy_limit);
  EXPECT_EQ(test.judge(5.0, 1.001 * limit, 3.0, 0.5), Outcome::not_converged);
  EXPECT_TRUE(test.within(0.01, infinity, 5.0, 0.999 * limit, 3.0, 0.5, 0.0));
  EXPECT_FALSE(test.within(0.01, infinity, 5.0, 0.999 * limit, 3.0, 0.5, 1e-3)) << "its value is still moving";
  EXPECT_TRUE(test.rounding_matters(5.0, 3.0, 0.5));
  EXPECT_EQ(test.judge(0.0, 0.0, 1.0, 1.0), Outcome::converged);
}

TEST(ResidualTest, ALimitThatGoesWithNormsWantsAValueAtRest) {
  const ResidualTest test = test_of(Convergence::norm, 1e-6);
  const double move = 1e-6 * (5.0 + 100.0 / 2.0);
  EXPECT_TRUE(test.within(1.0, infinity, 5.0, 0.0, 3.0, 0.5, 0.99 * move));
  EXPECT_FALSE(test.within(1.0, infinity, 5.0, 0.0, 3.0, 0.5, 1.01 * move));
}

/// x^T B x = 1 is the difference of numbers of the size of ||B|| ||x||^2.
TEST(ResidualTest, NothingIsDoneWhereRoundingErrorsAreAsLargeAsTheNorm) {
  const ResidualTest test = test_of(Convergence::relative, 0.0);
  const double norm = 1.0 / std::sqrt(10.0 * epsilon * 2.0);
  EXPECT_EQ(test.judge(5.0, 0.0, 1e-9, 0.99 * norm), Outcome::converged);
  EXPECT_EQ(test.judge(5.0, 1e-20, 1e-9, 0.99 * norm), Outcome::at_accuracy_limit);
  EXPECT_EQ(test.judge(5.0, 1e-20, 1e-9, 1.01 * norm), Outcome::not_converged);
  EXPECT_FALSE(test.within(1.0, infinity, 5.0, 1e-20, 1e-9, 1.01 * norm, 0.0));
  const ResidualTest by_norm = test_of(Convergence::norm, 1e-6);
  EXPECT_EQ(by_norm.judge(5.0, 0.0, 1e-9, 0.99 * norm), Outcome::converged);
  EXPECT_EQ(by_norm.judge(5.0, 0.0, 1e-9, 1.01 * norm), Outcome::not_converged);
  EXPECT_FALSE(by_norm.within(1.0, infinity, 5.0, 0.0, 1e-9, 1.01 * norm, 0.0));
}

TEST(ResidualTest, ValuesThatAreNotFiniteAreNeverDone) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const ResidualTest test = test_of(Convergence::absolute, 1e-6);
  EXPECT_EQ(test.judge(1.0, nan, 1.0, 1.0), Outcome::not_converged);
  EXPECT_EQ(test.judge(1.0, infinity, 1.0, 1.0), Outcome::not_converged);
  EXPECT_FALSE(test.within(1.0, infinity, 1.0, nan, 1.0, 1.0, 0.0));
}

}  // namespace
}  // namespace block_eigs
