#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "solver/lobpcg/residual_test.hpp"

namespace block_eigs {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double epsilon = std::numeric_limits<double>::epsilon();

constexpr double norm_a = 100.0;
constexpr double norm_b = 2.0;

ResidualTest test_of(Convergence convergence, double tolerance, bool with_mass = true) {
  LobpcgOptions options;
  options.convergence = convergence;
  options.tolerance = tolerance;
  return {options, {norm_a, norm_b, norm_a, with_mass}, epsilon};
}

/// A pair of rows that are all alike: sizes are those that the norms allow.
RitzPair pair_of(double value, double residual, double image_norm, double norm, double move = 0.0) {
  return {value, residual, image_norm, norm, norm_a * norm, norm_b * norm, move};
}

TEST(ResidualTest, LimitsAreThoseOfTheOptions) {
  // lambda = -5, ||Bx|| = 3, ||x|| = 0.5
  const struct {
    Convergence convergence;
    double limit;
  } cases[] = {{Convergence::relative, 1e-6 * 5.0 * 3.0},
               {Convergence::norm, 1e-6 * (norm_a + 5.0 * norm_b) * 0.5},
               {Convergence::absolute, 1e-6}};
  for (const auto& [convergence, limit] : cases) {
    const ResidualTest test = test_of(convergence, 1e-6);
    const auto pair = [limit = limit](double share) { return pair_of(-5.0, share * limit, 3.0, 0.5); };
    EXPECT_EQ(test.judge(pair(0.999)), Outcome::converged);
    EXPECT_EQ(test.judge(pair(1.001)), Outcome::not_converged);
    EXPECT_NEAR(test.ratio(pair(2.0)), 2.0, 1e-12);
    EXPECT_TRUE(test.within(0.25, infinity, pair(0.249)));
    EXPECT_FALSE(test.within(0.25, infinity, pair(0.251)));
    EXPECT_TRUE(test.within(0.25, 0.5 * limit, pair(0.124)));
    EXPECT_FALSE(test.within(0.25, 0.5 * limit, pair(0.126)));
  }
}

TEST(ResidualTest, TheBackwardErrorLimitIsWhereArithmeticEnds) {
  const ResidualTest test = test_of(Convergence::relative, 0.0);
  const double limit = 10.0 * epsilon * (norm_a + 5.0 * norm_b) * 0.5;
  EXPECT_EQ(test.judge(pair_of(5.0, 0.999 * limit, 3.0, 0.5)), Outcome::at_accuracy_limit);
  EXPECT_EQ(test.judge(pair_of(5.0, 1.001 * limit, 3.0, 0.5)), Outcome::not_converged);
  EXPECT_TRUE(test.within(0.01, infinity, pair_of(5.0, 0.999 * limit, 3.0, 0.5)));
  EXPECT_FALSE(test.within(0.01, infinity, pair_of(5.0, 0.999 * limit, 3.0, 0.5, 1e-3)))
      << "its value is still moving";
  EXPECT_TRUE(test.rounding_matters(pair_of(5.0, 0.0, 3.0, 0.5)));
  EXPECT_EQ(test.judge(pair_of(0.0, 0.0, 1.0, 1.0)), Outcome::converged);
}

/// Rows of A that are far larger than the others, where x is small: || |A| |x| || is 1e-9 ||A|| ||x||.
TEST(ResidualTest, WhereRowsDifferTheValueKeepsItsLeadingDigits) {
  LobpcgOptions options;
  options.tolerance = 1e-8;
  constexpr double large = 1e14;
  const ResidualTest test(options, {large, 1.0, 10.0, false}, epsilon);
  const auto pair = [](double residual, double move) {
    return RitzPair{3e-3, residual, 1.0, 1.0, 1e-9 * large, 1.0, move};
  };
  EXPECT_GT(test.largest_rounding(pair(0.0, 0.0)), 0.2) << "by norms alone rounding errors are as large as this";
  EXPECT_EQ(test.judge(pair(0.1, 0.0)), Outcome::not_converged);
  EXPECT_EQ(test.judge(pair(2.9e-7, 0.0)), Outcome::at_accuracy_limit) << "a ten-thousandth of the value";
  EXPECT_EQ(test.judge(pair(3.1e-7, 0.0)), Outcome::not_converged);
  EXPECT_TRUE(test.hangs_on_sizes(pair(0.1, 0.0)));
  EXPECT_FALSE(test.hangs_on_sizes(pair(2.9e-11, 0.0)));
  // Not locked before the value rests: its error is of the square of the residual.
  EXPECT_TRUE(test.within(1.0, infinity, pair(2.9e-7, 0.0)));
  EXPECT_FALSE(test.within(1.0, infinity, pair(2.9e-7, 1e-6)));
  // A value that is zero beside a typical row is zero.
  const RitzPair zero{1e-15, 0.9e-10, 1.0, 1.0, 1e-9 * large, 1.0, 0.0};
  EXPECT_EQ(test.judge(zero), Outcome::at_accuracy_limit);
  const RitzPair beyond{1e-15, 1e-9, 1.0, 1.0, 1.0, 1.0, 0.0};
  EXPECT_EQ(test.judge(beyond), Outcome::not_converged);
}

TEST(ResidualTest, WithAMassMatrixValuesMustBeAtRest) {
  const ResidualTest by_norm = test_of(Convergence::norm, 1e-6);
  const ResidualTest relative = test_of(Convergence::relative, 1e-6);
  const double rounding = 10.0 * epsilon * norm_a * 0.25;
  const double move = 1e-6 * (5.0 + norm_a / norm_b) + rounding;
  const auto moved = [](double by) { return pair_of(5.0, 0.0, 3.0, 0.5, by); };
  EXPECT_TRUE(by_norm.within(1.0, infinity, moved(0.99 * move)));
  EXPECT_FALSE(by_norm.within(1.0, infinity, moved(1.01 * move)));
  EXPECT_TRUE(relative.within(1.0, infinity, moved(0.99 * (1e-6 * 5.0 + rounding))));
  EXPECT_FALSE(relative.within(1.0, infinity, moved(1.01 * (1e-6 * 5.0 + rounding))));
  const ResidualTest identity = test_of(Convergence::norm, 1e-6, false);
  EXPECT_TRUE(identity.within(1.0, infinity, pair_of(5.0, 0.0, 1.0, 1.0, infinity)));
}

/// x^T B x = 1 is the difference of numbers of the size of ||B|| ||x||^2.
TEST(ResidualTest, NothingIsDoneWhereRoundingErrorsAreAsLargeAsTheNorm) {
  const ResidualTest test = test_of(Convergence::relative, 0.0);
  const double norm = 1.0 / std::sqrt(10.0 * epsilon * norm_b);
  EXPECT_EQ(test.judge(pair_of(5.0, 0.0, 1e-9, 0.99 * norm)), Outcome::converged);
  EXPECT_EQ(test.judge(pair_of(5.0, 1e-20, 1e-9, 0.99 * norm)), Outcome::at_accuracy_limit);
  EXPECT_EQ(test.judge(pair_of(5.0, 1e-20, 1e-9, 1.01 * norm)), Outcome::not_converged);
  EXPECT_FALSE(test.within(1.0, infinity, pair_of(5.0, 1e-20, 1e-9, 1.01 * norm)));
  const ResidualTest by_norm = test_of(Convergence::norm, 1e-6);
  EXPECT_EQ(by_norm.judge(pair_of(5.0, 0.0, 1e-9, 0.99 * norm)), Outcome::converged);
  EXPECT_EQ(by_norm.judge(pair_of(5.0, 0.0, 1e-9, 1.01 * norm)), Outcome::not_converged);
  EXPECT_FALSE(by_norm.within(1.0, infinity, pair_of(5.0, 0.0, 1e-9, 1.01 * norm)));
}

/// What a phase in float tells of how far it is goes on in double without a jump.
TEST(ResidualTest, DistancesInFloatAreThoseOfDouble) {
  for (const double tolerance : {1e-4, 1e-10, 0.0}) {
    SCOPED_TRACE(tolerance);
    LobpcgOptions options;
    options.tolerance = tolerance;
    const OperatorNorms norms{norm_a, 1.0, norm_a, false};
    const ResidualTest in_float(options, norms, std::numeric_limits<float>::epsilon());
    const ResidualTest in_double(options, norms, epsilon);
    const RitzPair pair{5.0, 1e-4, 1.0, 1.0, norm_a, 1.0, 0.0};
    EXPECT_NEAR(in_float.distance(pair) / in_double.distance(pair), 1.0, 0.1);
    EXPECT_EQ(in_double.distance(pair), in_double.ratio(pair));
    EXPECT_LE(in_float.ratio(pair), 1.0) << "float can do no better";
  }
}

TEST(ResidualTest, ValuesThatAreNotFiniteAreNeverDone) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const ResidualTest test = test_of(Convergence::absolute, 1e-6);
  EXPECT_EQ(test.judge(pair_of(1.0, nan, 1.0, 1.0)), Outcome::not_converged);
  EXPECT_EQ(test.judge(pair_of(1.0, infinity, 1.0, 1.0)), Outcome::not_converged);
  EXPECT_FALSE(test.within(1.0, infinity, pair_of(1.0, nan, 1.0, 1.0)));
}

}  // namespace
}  // namespace block_eigs
