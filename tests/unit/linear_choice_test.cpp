#include "apps/choice/linear_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/matrix_traits.hpp"

// What `auto` takes for linear systems, and when it changes its mind.
namespace block_eigs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using test::diffusion;

/// A matrix whose diagonal holds twice what stands beside it.
MatrixTraits dominant(double rows, double per_row) {
  MatrixTraits traits = diffusion(rows, per_row);
  traits.zero_sums = 0.0;
  traits.scaled_norm = 1.5;
  traits.lower_bound = 0.5 * traits.least_diagonal;
  return traits;
}

/// Rows and columns scaled by 1e-3 to 1e3.
MatrixTraits scaled(double rows, double per_row) {
  MatrixTraits traits = diffusion(rows, per_row);
  traits.zero_sums = traits.dominant = 0.0;
  traits.least_row = 1e-10 * traits.norm_inf;
  traits.lower_bound = -traits.norm_inf;
  traits.scaled_norm = 1e5;
  return traits;
}

LinearSolverChoice choice_for(const MatrixTraits& traits, GlobalIndex sides = 8,
                              const LinearSolverConfig& config = {}, Backend backend = Backend::host) {
  return {traits, cost_model(traits, 0.0, linear_columns(config, sides), 8.0, backend), config, sides};
}

PreconditionerType type_of(const LinearSolverChoice& choice) { return choice.config().preconditioner.type; }

IterationReport iteration(double worst) {
  IterationReport report;
  report.active_columns = report.products = 8;
  report.worst = worst;
  return report;
}

/// Iterations by this rate from 1e8 until it is done, or another way is asked for; true for the former.
bool goes_to_the_end(LinearSolverChoice& choice, double rate) {
  choice.begin();
  for (double worst = 1e8; worst > 1.0; worst *= rate) {
    if (!choice.proceed(iteration(worst))) return false;
  }
  return true;
}

TEST(LinearSolverChoice, MultigridForDiffusions) {
  for (const int sides : {1, 8, 100}) {
    EXPECT_EQ(type_of(choice_for(diffusion(1e5, 7), sides)), PreconditionerType::amg) << sides;
    EXPECT_EQ(type_of(choice_for(diffusion(1e6, 7), sides)), PreconditionerType::amg) << sides;
  }
  EXPECT_THAT(choice_for(diffusion(1e6, 7)).description(), HasSubstr("because rows add up to zero"));
}

TEST(LinearSolverChoice, NoSetUpForFewIterations) {
  EXPECT_EQ(type_of(choice_for(dominant(1e6, 11))), PreconditionerType::jacobi);
  EXPECT_THAT(choice_for(dominant(1e6, 11)).description(), HasSubstr("because the diagonal dominates"));
  // A tolerance that a few iterations reach.
  LinearSolverConfig coarse;
  coarse.tolerance = 0.1;
  EXPECT_NE(type_of(choice_for(diffusion(1e5, 7), 1, coarse)), PreconditionerType::amg);
  EXPECT_NE(type_of(choice_for(diffusion(1e5, 7), 8, {}, Backend::cuda)), PreconditionerType::amg)
      << "the set-up's launches take longer than the solve";
}

TEST(LinearSolverChoice, ScaledRowsAreScaledBackAndNotCoarsened) {
  LinearSolverChoice choice = choice_for(scaled(1e5, 7));
  EXPECT_EQ(type_of(choice), PreconditionerType::jacobi);
  EXPECT_TRUE(goes_to_the_end(choice, 0.98));
  LinearSolverConfig described;
  described.preconditioner.amg.coordinates.emplace();
  EXPECT_EQ(type_of(choice_for(scaled(1e5, 7), 8, described)), PreconditionerType::amg);
}

TEST(LinearSolverChoice, AnIndefiniteDiagonalGetsJacobiAlone) {
  MatrixTraits traits = diffusion(1e5, 7);
  traits.least_diagonal = -1.0;
  LinearSolverChoice choice = choice_for(traits);
  EXPECT_EQ(type_of(choice), PreconditionerType::jacobi);
  EXPECT_TRUE(goes_to_the_end(choice, 0.999)) << "there is nothing better";
}

TEST(LinearSolverChoice, ChangesWhenProgressIsSlowAndStaysWhenItIsGood) {
  MatrixTraits traits = diffusion(1e5, 27);
  traits.zero_sums = 0.0;  // such as A + I / 1000
  for (const double rate : {0.97, 0.5}) {
    LinearSolverChoice choice = choice_for(traits);
    const PreconditionerType first = type_of(choice);
    ASSERT_NE(first, PreconditionerType::amg);
    EXPECT_EQ(goes_to_the_end(choice, rate), rate < 0.9);
    if (rate < 0.9) continue;
    EXPECT_TRUE(choice.change(Limitation::stopped));
    EXPECT_EQ(type_of(choice), PreconditionerType::amg);
    EXPECT_THAT(choice.taken(), ElementsAre(first, PreconditionerType::amg));
    EXPECT_THAT(choice.description(), HasSubstr("comes forward too slowly"));
  }
}

TEST(LinearSolverChoice, NothingIsSetUpBeforeAsMuchIsSpent) {
  MatrixTraits traits = diffusion(1e5, 27);
  traits.zero_sums = 0.0;
  const CostModel costs = cost_model(traits, 0.0, 8, 8.0, Backend::host);
  LinearSolverChoice choice = choice_for(traits);
  const double step = costs.cg_iteration() + costs.preconditioner(choice.config().preconditioner);
  double spent = 0.0;
  choice.begin();
  while (choice.proceed(iteration(1e8))) spent += step;
  EXPECT_GE(spent + step, costs.setup(PreconditionerType::amg));
}

TEST(LinearSolverChoice, FewerIterationsAreNoReasonWhereTheyTakeAsLong) {
  // Chebyshev on long rows whose diagonals do not dominate, such as those of shells.
  MatrixTraits traits = scaled(1e4, 40);
  traits.scaled_norm = 16.0;
  LinearSolverChoice choice = choice_for(traits);
  ASSERT_EQ(type_of(choice), PreconditionerType::jacobi);
  EXPECT_TRUE(goes_to_the_end(choice, 0.99));
}

/// Jacobi needs more iterations by what Chebyshev needs fewer.
TEST(LinearSolverChoice, ASlowStartOfAPolynomialIsNoReasonForTheDiagonal) {
  MatrixTraits traits = diffusion(6e4, 7);
  traits.zero_sums = 0.0;
  traits.dominant = 0.0;
  LinearSolverChoice choice = choice_for(traits, 8, {}, Backend::cuda);
  ASSERT_EQ(type_of(choice), PreconditionerType::chebyshev);
  if (goes_to_the_end(choice, 0.9)) return;
  ASSERT_TRUE(choice.change(Limitation::stopped));
  EXPECT_NE(type_of(choice), PreconditionerType::jacobi);
}

/// As measured on a GPU: up to where launches, not bytes, take the time multigrid's set-up does not pay. Both take
/// as long for one right-hand side at 100^3, and for eight at 80^3.
TEST(LinearSolverChoice, OnAGpuMultigridForLargeDiffusions) {
  for (const int sides : {1, 8}) {
    const double even = sides == 1 ? 100.0 : 80.0;
    for (const double side : {48.0, 64.0, 100.0, 128.0, 160.0}) {
      if (side == even) continue;
      const LinearSolverChoice choice = choice_for(diffusion(side * side * side, 7), sides, {}, Backend::cuda);
      EXPECT_EQ(type_of(choice), side < even ? PreconditionerType::chebyshev : PreconditionerType::amg)
          << side << "^3, " << sides;
    }
  }
}

/// As measured on a GPU: elasticity of 20^3 and 32^3 elements, on which Jacobi needs as many products or more.
TEST(LinearSolverChoice, OnAGpuFewerIterationsForElasticity) {
  for (const double rows : {2.6e4, 1.05e5}) {
    MatrixTraits traits = diffusion(rows, 75);
    traits.scaled_norm = 5.36;
    traits.dominant = 0.0;
    for (const int sides : {1, 8})
      EXPECT_EQ(type_of(choice_for(traits, sides, {}, Backend::cuda)), PreconditionerType::chebyshev) << rows;
  }
}

TEST(LinearSolverChoice, AFaultyPreconditionerIsNotTakenAgain) {
  LinearSolverChoice choice = choice_for(diffusion(1e5, 7));
  ASSERT_EQ(type_of(choice), PreconditionerType::amg);
  int changes = 0;
  for (; choice.change(Limitation::preconditioner); ++changes) {
    ASSERT_LT(changes, 4);
    EXPECT_NE(type_of(choice), PreconditionerType::amg);
  }
  EXPECT_EQ(changes, 3) << "chebyshev, jacobi and none are left";
}

TEST(LinearSolverChoice, WhatWasAskedForIsKept) {
  LinearSolverConfig config;
  config.inner_precision = Precision::float32;
  config.max_iterations = 77;
  const LinearSolverConfig chosen = choice_for(diffusion(1e5, 7), 8, config).config();
  EXPECT_EQ(chosen.inner_precision, Precision::float32);
  EXPECT_EQ(chosen.max_iterations, 77);
}

}  // namespace
}  // namespace block_eigs
