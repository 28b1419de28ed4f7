// Numbers below the smallest eigenvalue, tried one after another, and when another one is worth a factorisation.
#include "apps/input/shift_search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "apps/choice/shift_follower.hpp"

namespace block_eigs {
namespace {

/// The first that is below `smallest`, as a factorisation would find out; `tries` counts those before it too.
double found(const SpectrumStart& start, double smallest, int& tries) {
  ShiftSearch search(start);
  for (tries = 1;; ++tries) {
    const std::optional<double> sigma = search.next();
    if (!sigma) return std::numeric_limits<double>::quiet_NaN();
    if (*sigma < smallest) return *sigma;
  }
}

TEST(ShiftSearch, NextToZeroForSemidefiniteMatrices) {
  int tries = 0;
  // A Laplacian, whose discs touch zero but for rounding errors.
  EXPECT_NEAR(found({.norm = 8.0, .upper_bound = 2.0, .lower_bound = -1e-16}, 0.0, tries), 0.0, 1e-12);
  EXPECT_EQ(tries, 1);
  // A biharmonic one, whose discs do not show it.
  EXPECT_NEAR(found({.norm = 16.0, .upper_bound = 5.0, .lower_bound = -4.0}, 1e-12, tries), 0.0, 1e-12);
  EXPECT_EQ(tries, 1);
}

TEST(ShiftSearch, BelowANumberThatTheDiscsProve) {
  int tries = 0;
  const double sigma = found({.norm = 12.0, .upper_bound = 9.0, .lower_bound = 7.0}, 7.0, tries);
  EXPECT_NEAR(sigma, 7.0, 1e-11);
  EXPECT_LE(tries, 2);
}

TEST(ShiftSearch, FromARitzValueOutwards) {
  for (const double smallest : {-3.0, -0.5, 0.99, 0.9999}) {
    int tries = 0;
    const SpectrumStart start{.norm = 10.0, .upper_bound = 1.0, .lower_bound = -10.0, .near = 1.0, .margin = 1e-5};
    const double sigma = found(start, smallest, tries);
    EXPECT_LT(sigma, smallest);
    // No farther than eight times as much as was needed.
    EXPECT_LT(1.0 - sigma, 8.5 * (1.0 - smallest)) << smallest;
    EXPECT_LE(tries, 9);
  }
}

TEST(ShiftSearch, EndsBeyondTheDiscsAtTheLatest) {
  int tries = 0;
  const SpectrumStart start{.norm = 10.0, .upper_bound = -9.0, .lower_bound = -10.0};
  EXPECT_LT(found(start, -10.0, tries), -10.0);
  EXPECT_GT(found(start, -10.0, tries), -10.1);
  const SpectrumStart wrong{.norm = 10.0, .upper_bound = 1.0, .lower_bound = 0.0, .near = 3.0, .margin = 0.1};
  EXPECT_NEAR(found(wrong, 0.0, tries), 0.0, 1e-11);
  EXPECT_TRUE(std::isnan(found(wrong, -1.0, tries))) << "no matrix with such discs";
}

TEST(ShiftSearch, ZeroItselfOnRequest) {
  int tries = 0;
  SpectrumStart start{.norm = 10.0, .upper_bound = 1.0, .lower_bound = -1e-16, .near = 1e-20, .margin = 1e-21};
  EXPECT_LT(found(start, 1e-20, tries), 0.0);
  start.zero_first = true;
  EXPECT_EQ(found(start, 1e-20, tries), 0.0);
  EXPECT_EQ(tries, 1);
  EXPECT_LT(found(start, 0.0, tries), 0.0);
  EXPECT_EQ(tries, 2);
}

IterationReport report(int converged, const std::vector<double>& values, const std::vector<double>& residuals) {
  IterationReport result;
  result.converged = converged;
  result.eigenvalues = values;
  result.residual_norms = residuals;
  return result;
}

/// Reports until it says no, `most` at the most.
int iterations_until_no(ShiftFollower& follower, const IterationReport& same, int most) {
  for (int i = 1; i <= most; ++i) {
    if (!follower.proceed(same)) return i;
  }
  return most + 1;
}

TEST(ShiftFollower, FollowsTheFirstValueThatIsNotFound) {
  const std::vector<double> values{-5e4, 0.01, 0.02, 0.03};
  const std::vector<double> residuals{1e-10, 1e-4, 1e-4, 1e-3};
  for (const Which end : {Which::smallest, Which::largest}) {
    const double sign = end == Which::largest ? -1.0 : 1.0;
    std::vector<double> mirrored;
    for (const double value : values) mirrored.push_back(sign * value);
    ShiftFollower follower(end, 1e-9, 1.0);
    follower.begin(sign * -1.9e5);
    EXPECT_EQ(iterations_until_no(follower, report(1, mirrored, residuals), 100), 8);
    ShiftTarget target;
    follower.aim(target, 4);
    EXPECT_EQ(target.near, sign * 0.01);
    EXPECT_DOUBLE_EQ(target.margin, 0.02);
    EXPECT_EQ(target.found, std::vector<double>{sign * -5e4});
  }
}

// A window holds no more than its columns of what was found: sigma has to lie before the others.
TEST(ShiftFollower, WhatDoesNotGoAlongIsNotFound) {
  const std::vector<double> values{-3e3, -2e3, -1e3, -1.0, -0.9};
  ShiftFollower follower(Which::smallest, 1e-9, 1.0);
  follower.begin(-4e3);
  follower.proceed(report(3, values, {1e-10, 1e-10, 1e-10, 1e-4, 1e-4}));
  ShiftTarget target;
  follower.aim(target, 2);
  EXPECT_EQ(target.near, -1e3);
  EXPECT_EQ(target.found, (std::vector{-3e3, -2e3}));
}

TEST(ShiftFollower, StaysWhereItIsCloseOrFixed) {
  const std::vector<double> values{0.01, 0.02, 0.03};
  const std::vector<double> residuals{1e-4, 1e-4, 1e-3};
  ShiftFollower close(Which::smallest, 1e-9, 1.0);
  close.begin(-0.1);
  EXPECT_EQ(iterations_until_no(close, report(0, values, residuals), 100), 101);
  ShiftFollower fixed(Which::smallest, 1e-9, 1.0);
  fixed.begin(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(iterations_until_no(fixed, report(0, values, residuals), 100), 101);
  // Values that rounding errors do not tell apart are no reason to move.
  const std::vector<double> zeros{0.0, 1e-18, 2e-18};
  ShiftFollower rounding(Which::smallest, 1e-9, 1.0);
  rounding.begin(-1e-8);
  EXPECT_EQ(iterations_until_no(rounding, report(0, zeros, residuals), 100), 101);
}

}  // namespace
}  // namespace block_eigs
