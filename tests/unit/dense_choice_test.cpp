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
  EXPECT_TRUE(choice.change(Limitation::precision));
  EXPECT_EQ(iterations_before_dense(choice, 1000), 1000) << "what is undone then is not solved densely again";
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

}  // namespace
}  // namespace block_eigs
