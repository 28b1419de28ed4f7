#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "solver/lobpcg/wanted_order.hpp"

namespace block_eigs {
namespace {

/// Pairs of a matrix of norm 1, with B = I.
RitzPairs pairs_of(const std::vector<double>& values, const std::vector<double>& residuals) {
  const std::vector<double> ones(values.size(), 1.0), zeros(values.size(), 0.0);
  RitzPairs pairs;
  pairs.values = values;
  pairs.residuals = residuals;
  pairs.image_norms = pairs.norms = pairs.a_sizes = pairs.b_sizes = ones;
  pairs.moves = pairs.probed = zeros;
  return pairs;
}

std::vector<int> order_of(const RitzPairs& pairs, Which which = Which::smallest) {
  LobpcgOptions options;
  options.pairs = 2;
  options.tolerance = 1e-8;
  options.which = which;
  return wanted_order(options, ResidualTest(options, {.a = 1.0, .typical_a = 1.0}, 1e-16), pairs);
}

constexpr double rounding = 1e-15;

TEST(WantedOrder, IsThatOfTheValues) {
  EXPECT_EQ(order_of(pairs_of({0.3, 0.1, 0.2}, {0, 0, 0})), (std::vector{1, 2, 0}));
  EXPECT_EQ(order_of(pairs_of({0.3, 0.1, 0.2}, {0, 0, 0}), Which::largest), (std::vector{0, 2, 1}));
}

TEST(WantedOrder, AGuardOfTheSameValueGivesWay) {
  // The third column has not converged, and rounding errors have put it before the second.
  EXPECT_EQ(order_of(pairs_of({0.1, 0.2, 0.2 - rounding}, {0, 1e-12, 1e-6})), (std::vector{0, 1, 2}));
  EXPECT_EQ(order_of(pairs_of({0.3, 0.2, 0.2 + rounding}, {0, 1e-12, 1e-6}), Which::largest),
            (std::vector{0, 1, 2}));
  // Whose place it is is told by values again.
  EXPECT_EQ(order_of(pairs_of({0.2, 0.2 - rounding, 0.2 + rounding}, {0, 1e-6, 0})), (std::vector{0, 2, 1}));
}

TEST(WantedOrder, APairThatWasMissedDoesNotGiveWay) {
  // 1e-7 lower where 2e-9 would do.
  EXPECT_EQ(order_of(pairs_of({0.1, 0.2, 0.2 - 1e-7}, {0, 0, 1e-6})), (std::vector{0, 2, 1}));
}

TEST(WantedOrder, WhatHasNotConvergedEitherIsNoBetter) {
  EXPECT_EQ(order_of(pairs_of({0.1, 0.2, 0.2 - rounding}, {0, 1e-6, 1e-6})), (std::vector{0, 2, 1}));
}

TEST(WantedOrder, FewerPairsThanAskedFor) {
  EXPECT_EQ(order_of(pairs_of({0.1}, {1e-3})), (std::vector{0}));
  EXPECT_EQ(order_of(pairs_of({}, {})), (std::vector<int>{}));
}

}  // namespace
}  // namespace block_eigs
