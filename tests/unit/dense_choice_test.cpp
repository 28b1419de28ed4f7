#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "apps/choice/eigensolver_choice.hpp"
#include "tests/support/eigensolver_choice.hpp"
#include "tests/support/matrix_traits.hpp"

// A dense solver, whose time is known, where iterations have taken longer than that.
namespace block_eigs {
namespace {

using test::asked;
using test::choice_for;
using test::diffusion;
using test::iteration;

constexpr double rows = 500.0;
constexpr double mass_nonzeros = rows * 5.0;

EigensolverConfig largest() { return asked(Which::largest); }

/// Iterations that hardly come forward, way after way, until `auto` takes a dense solver: how many there were, or
/// `most` without one.
int iterations_before_dense(EigensolverChoice& choice, int most) {
  const std::vector<double> values{8, 7, 6, 5, 4, 3, 2, 1}, residuals(8, 0.1);
  for (int i = 1; i <= most; ++i) {
    if (choice.proceed(iteration(1e6 * std::exp(-1e-3 * i), values, residuals))) continue;
    EXPECT_TRUE(choice.change(Limitation::stopped));
    if (choice.config().options.dense) return i;
  }
  return most;
}

TEST(EigensolverChoice, SmallPencilsAreSolvedDenselyBeforeIterationsHaveTakenAsLong) {
  const MatrixTraits traits = diffusion(rows, 5);
  EigensolverChoice choice = choice_for(traits, largest(), mass_nonzeros);
  const CostModel costs = cost_model(traits, mass_nonzeros, 10, 8.0, Backend::host);
  const int iterations = iterations_before_dense(choice, 1000);
  EXPECT_TRUE(choice.config().options.dense);
  const double cost = (1.0 + 8.0 / 3.0) * costs.dense;  // with the refinement of 8 vectors
  EXPECT_GE(iterations, 20) << "rates are heard";
  EXPECT_LE(iterations * costs.iteration(), 1.1 * cost);
  EXPECT_NE(choice.description().find("a dense solver"), std::string::npos);
  ASSERT_TRUE(choice.change(Limitation::precision));
  EXPECT_EQ(choice.config().options.dense_up_to, 0) << "what is undone then is not solved densely again";
  EXPECT_EQ(iterations_before_dense(choice, 1000), 1000);
  EigensolverChoice resumed = choice_for(traits, largest(), mass_nonzeros);
  resumed.resume(choice.state(), choice.config());
  EXPECT_EQ(resumed.config().options.dense_up_to, 0);
}

// To iterations small values of one part are rounding errors of another.
TEST(EigensolverChoice, PartsThatNothingCouplesAreSolvedDenselyAtOnceWhereRowsDiffer) {
  MatrixTraits traits = diffusion(2900, 5);
  traits.largest_part = 1450.0;
  EXPECT_FALSE(choice_for(traits, asked()).config().options.dense);
  traits.norm_inf = 1e8 * traits.least_row;
  EXPECT_TRUE(choice_for(traits, asked()).config().options.dense);
  traits.largest_part = 2000.0;
  EXPECT_FALSE(choice_for(traits, asked()).config().options.dense);
}

TEST(EigensolverChoice, IterationsThatAreNearTheirEndAreNotLeftForADenseSolver) {
  const CostModel costs = cost_model(diffusion(rows, 5), mass_nonzeros, 10, 8.0, Backend::host);
  const MassTraits diagonal{1.0, 1.0};  // there are no other ways
  EigensolverChoice choice(diffusion(rows, 5), costs, largest(), diagonal);
  const std::vector<double> values{8, 7, 6, 5, 4, 3, 2, 1}, residuals(8, 0.1);
  // It is thought of before they end.
  const int steps = static_cast<int>(1.5 * (1.0 + 8.0 / 3.0) * costs.dense / costs.iteration());
  for (int i = 0; i < steps; ++i) {
    ASSERT_TRUE(choice.proceed(iteration(std::pow(1e6, 1.0 - i / (1.0 * steps)), values, residuals))) << i;
  }
}

TEST(EigensolverChoice, NoDenseSolverForLargeMatricesNorWhereNoneIsWanted) {
  EigensolverConfig never = largest();
  never.options.dense_up_to = 0;
  EigensolverChoice choice = choice_for(diffusion(rows, 5), never, mass_nonzeros);
  iterations_before_dense(choice, 3000);
  EXPECT_FALSE(choice.config().options.dense);
  EigensolverChoice large = choice_for(diffusion(3001, 5), largest());
  iterations_before_dense(large, 30000);
  EXPECT_FALSE(large.config().options.dense);
  // Its rounding errors may hide what is wanted.
  MatrixTraits stiff = diffusion(601, 5);
  stiff.norm_inf = 1e3 * stiff.least_row;
  EigensolverChoice pencil = choice_for(stiff, largest(), 601.0 * 5.0);
  iterations_before_dense(pencil, 10000);
  EXPECT_FALSE(pencil.config().options.dense);
}

TEST(EigensolverChoice, WithoutMemoryForADenseMatrixAnotherWayGoesOn) {
  EigensolverChoice choice = choice_for(diffusion(rows, 5), largest(), mass_nonzeros);
  EXPECT_FALSE(choice.pass_over_dense());
  iterations_before_dense(choice, 1000);
  ASSERT_TRUE(choice.pass_over_dense());
  EXPECT_TRUE(choice.change(Limitation::stopped));
  EXPECT_FALSE(choice.config().options.dense);
  EXPECT_EQ(iterations_before_dense(choice, 1000), 1000);
}

TEST(EigensolverChoice, ADenseSolverIsFollowedByIterationsWherePairsAreUndone) {
  EigensolverChoice choice = choice_for(diffusion(rows, 5), largest(), mass_nonzeros);
  iterations_before_dense(choice, 1000);
  ASSERT_TRUE(choice.config().options.dense);
  EXPECT_TRUE(choice.change(Limitation::precision));
  EXPECT_FALSE(choice.config().options.dense);
}

TEST(EigensolverChoice, WhatIterationsHaveTakenGoesAlongWithACheckpoint) {
  EigensolverChoice whole = choice_for(diffusion(rows, 5), largest(), mass_nonzeros);
  EigensolverChoice before = whole;
  const int iterations = iterations_before_dense(whole, 1000);
  EXPECT_EQ(iterations_before_dense(before, iterations - 1), iterations - 1);
  EigensolverChoice resumed = choice_for(diffusion(rows, 5), largest(), mass_nonzeros);
  resumed.resume(before.state(), before.config());
  EXPECT_LE(iterations_before_dense(resumed, 1000), 2);
}

/// Of sparse pencils too, where many pairs are wanted and rows are alike.
TEST(EigensolverChoice, ManyPairsOfSmallPencilsAreSolvedDenselyAtOnce) {
  EigensolverConfig many = asked();
  many.options.pairs = 150;
  many.options.block_size = 170;
  const auto dense = [](const MatrixTraits& traits, const EigensolverConfig& config) {
    return choice_for(traits, config, traits.nonzeros).config().options.dense;
  };
  EXPECT_TRUE(dense(diffusion(900, 7), many));
  EXPECT_FALSE(dense(diffusion(900, 7), asked())) << "few";
  EXPECT_FALSE(dense(diffusion(3001, 7), many)) << "beyond dense_up_to";
  MatrixTraits stiff = diffusion(900, 7);
  stiff.norm_inf = 1e3 * stiff.least_row;
  EXPECT_FALSE(dense(stiff, many)) << "rounding errors may hide small values";
  EigensolverChoice without_memory = choice_for(diffusion(900, 7), many, 6300.0);
  without_memory.do_without_dense();
  EXPECT_FALSE(without_memory.config().options.dense);
  EXPECT_EQ(without_memory.config().options.dense_up_to, 0);
}

/// What the solver would solve densely, whatever is chosen, is no matter of choice.
TEST(EigensolverChoice, WhereTheBlockFillsAFifthOfTheSpaceThereIsNoOtherWay) {
  EigensolverConfig filling = asked();
  filling.options.dense = true;
  EigensolverChoice choice = choice_for(diffusion(40, 3), filling);
  EXPECT_TRUE(choice.config().options.dense);
  int asked_for = 0;
  choice.weigh_factors([&]() -> std::optional<factors::FactorSize> {
    ++asked_for;
    return std::nullopt;
  });
  EXPECT_EQ(asked_for, 0);
  EXPECT_FALSE(choice.change(Limitation::precision));
}

}  // namespace
}  // namespace block_eigs
