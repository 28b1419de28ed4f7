#include "solver/lobpcg/lobpcg_steps.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "io/generate/generate.hpp"
#include "solver/lobpcg/final_check.hpp"
#include "solver/lobpcg/lobpcg_start.hpp"
#include "tests/support/eigen_problem.hpp"
#include "tests/support/linear_problem.hpp"

// Steps of the iteration that keep its vectors orthogonal to what is deflated.
namespace block_eigs {
namespace {

/// Four random constraints, and a start block beside them.
struct Steps {
  explicit Steps(bool with_mass = false)
      : problem(*laplacian2d(Communicator(MPI_COMM_WORLD), {.size = {20, 19}})),
        mass(with_mass ? make_mass(problem) : nullptr) {
    DenseBlock<double> constraints = space().make_block(4);
    space().fill_random(constraints.view(), 7);
    state.window = make_window(options, false);
    take_constraints(run, state, constraints);
    start_block<double>(run, state, {});
  }
  BlockSpace<double>& space() { return problem.space; }
  double along_deflated(ConstBlockView<double> x) {
    SmallMatrix products;
    space().gram({state.deflated.b()}, {x}, products);
    double most = 0.0;
    for (const double value : products.values()) most = std::max(most, std::abs(value));
    return most;
  }
  /// Deflated vectors with a part of `rest` beside them.
  void fill_nearly_deflated(BlockView<double> x, double rest = 1e-7) {
    space().fill_random(x, 3);
    problem.context.kernels->axpby(1.0, state.deflated.v(), rest, x);
  }
  /// Tridiagonal and diagonally dominant.
  static std::unique_ptr<LinearOperator<double>> make_mass(test::Problem<double>& problem) {
    test::RuleSource source(problem.matrix.row_partition().rows(), [](GlobalIndex i, GlobalIndex j) {
      return i == j ? 1.0 + static_cast<double>(i % 5) : std::abs(i - j) == 1 ? 0.3 : 0.0;
    });
    return std::make_unique<DistributedMatrix<double>>(problem.context, source.read(problem.partition),
                                                       problem.partition, problem.partition);
  }

  /// An iteration as the loop takes it, up to where the small problem is posed.
  void expand_basis() {
    const int fresh = expand(run, state);
    orthogonalize(run, state, fresh);
    problem.matrix.apply(state.w.v(), state.w.a());
  }
  void iterate(int count) {
    for (int i = 0; i < count; ++i) {
      expand_basis();
      update(run, state, rayleigh_ritz(run, state, state.active()));
      budget.spend();
    }
  }
  /// Largest deviation of [X P]^T [X P] from I.
  double deviation() {
    SmallMatrix gram;
    space().gram({state.x.v(), state.p.v()}, {state.x.v(), state.p.v()}, gram);
    double most = 0.0;
    for (int j = 0; j < gram.cols(); ++j) {
      for (int i = 0; i < gram.rows(); ++i) most = std::max(most, std::abs(gram(i, j) - (i == j ? 1.0 : 0.0)));
    }
    return most;
  }
  /// X + size * random.
  void disturb_x(double size) {
    DenseBlock<double> noise = space().make_block(state.active());
    space().fill_random(noise.view(), 11);
    problem.context.kernels->axpby(size, noise.view(), 1.0, state.x.v());
    if (state.carries_images) problem.matrix.apply(state.x.v(), state.x.a());
  }

  test::Problem<double> problem;
  std::unique_ptr<LinearOperator<double>> mass;
  LobpcgOptions options{.pairs = 4, .block_size = 4};
  Budget budget{20};
  Observer observer;
  Proceed proceed;
  std::vector<LobpcgIteration> history;
  LobpcgRun<double> run{
      {problem.space, problem.matrix, mass.get(), nullptr}, options, {}, budget, observer, proceed, history};
  LobpcgState<double> state{run.problem, options, 4, 4};
};

TEST(LobpcgSteps, WhatCancelsIsProjectedTwice) {
  Steps steps;
  steps.state.w.set_columns(4);
  steps.fill_nearly_deflated(steps.state.w.v());
  deflate(steps.run.problem, steps.state);
  const std::vector<double> norms = steps.space().column_norms(steps.state.w.v());
  EXPECT_LT(norms[0], 1e-5);
  EXPECT_LT(steps.along_deflated(steps.state.w.v()), 1e-14 * norms[0]);
}

TEST(LobpcgSteps, WithMassWhatOneProjectionLeavesIsMeasuredAndTakenOut) {
  Steps steps(true);
  const int fresh = expand(steps.run, steps.state);
  const BlockView<double> w = steps.state.w.v();
  steps.fill_nearly_deflated(w, 1e-10);
  ASSERT_TRUE(orthogonalize(steps.run, steps.state, fresh));
  steps.problem.matrix.apply(w, steps.state.w.a());
  const double once = steps.along_deflated(w) / steps.space().column_norms(w)[0];
  EXPECT_GT(once, 1e-8);
  EXPECT_FALSE(rayleigh_ritz(steps.run, steps.state, 4).values.empty());
  EXPECT_LT(steps.along_deflated(w) / steps.space().column_norms(w)[0], 1e-5 * once);
  // Its images are those of what is left.
  DenseBlock<double> image = steps.space().make_block(4);
  steps.mass->apply(w, image.view());
  steps.problem.context.kernels->axpby(1.0, steps.state.w.b(), -1.0, image.view());
  EXPECT_EQ(steps.space().column_norms(image.view())[0], 0.0);
}

TEST(LobpcgSteps, VectorsOfALowerPrecisionAreMadeOrthonormalByTheirRitzStep) {
  for (const bool with_mass : {false, true}) {
    Steps steps(with_mass);
    LobpcgState<double>& state = steps.state;
    steps.disturb_x(1e-7);
    ASSERT_TRUE(rayleigh_ritz_of_rounded_x(steps.run, state));
    DenseBlock<double> ax = steps.space().make_block(4);
    DenseBlock<double> bx = steps.space().make_block(4);
    steps.problem.matrix.apply(state.x.v(), ax.view());
    if (with_mass) {
      steps.mass->apply(state.x.v(), bx.view());
    } else {
      steps.space().copy(state.x.v(), bx.view());
    }
    SmallMatrix products;
    steps.space().gram({state.x.v()}, {ax.view(), bx.view()}, products);
    const std::vector<double>& values = state.ritz.values;
    for (int j = 0; j < 4; ++j) {
      for (int i = 0; i < 4; ++i) {
        EXPECT_NEAR(products(i, j), i == j ? values[static_cast<std::size_t>(j)] : 0.0, 1e-13 * values.back());
        EXPECT_NEAR(products(i, 4 + j), i == j ? 1.0 : 0.0, 1e-14);
      }
    }
    const std::vector<double> norms =
        steps.space().residual(std::as_const(ax).view(), std::as_const(bx).view(), values, ax.view());
    for (std::size_t j = 0; j < norms.size(); ++j) EXPECT_NEAR(state.ritz.residuals[j], norms[j], 1e-12);
  }
}

TEST(LobpcgSteps, VectorsThatAreFarFromOrthonormalAreLeftToOthers) {
  Steps steps;
  steps.disturb_x(0.1);
  DenseBlock<double> difference = steps.space().make_block(4);
  steps.space().copy(steps.state.x.v(), difference.view());
  EXPECT_FALSE(rayleigh_ritz_of_rounded_x(steps.run, steps.state));
  steps.problem.context.kernels->axpby(1.0, steps.state.x.v(), -1.0, difference.view());
  for (const double norm : steps.space().column_norms(difference.view())) EXPECT_EQ(norm, 0.0);
}

TEST(LobpcgSteps, DirectionsOfAnotherPhaseAreDeflated) {
  Steps steps;
  DenseBlock<double> directions = steps.space().make_block(4);
  steps.fill_nearly_deflated(directions.view());
  take_directions<double>(steps.run, steps.state, {std::move(directions)});
  EXPECT_LT(steps.along_deflated(steps.state.x.v()), 1e-12);
  EXPECT_LT(steps.along_deflated(steps.state.p.v()), 1e-12);
}

TEST(LobpcgSteps, GuardVectorsRestOnlyWhereFewIterationsAreLeft) {
  Steps steps;
  steps.options = {.pairs = 4, .tolerance = 1e-6, .block_size = 6};
  steps.run.phase = LobpcgPhase::refinement();
  const auto directions = [&](double residual, int wanted) {
    constexpr int guards = 2;
    LobpcgState<double> state(steps.run.problem, steps.options, 6, 0);
    state.test = residual_test(steps.run, {1.0, 1.0, 1.0, false});
    state.x.set_columns(wanted + guards);
    const std::vector<double> ones(static_cast<std::size_t>(wanted + guards), 1.0);
    state.ritz = {ones, ones, ones, ones, ones, ones, ones, ones};
    state.ritz.residuals.assign(ones.size(), residual);
    state.locked.values.assign(static_cast<std::size_t>(4 - wanted), 1.0);
    return columns_with_directions(steps.run, state);
  };
  EXPECT_EQ(directions(1e-4, 4), 4);
  EXPECT_EQ(directions(1e-3, 4), 6) << "many iterations are left";
  EXPECT_EQ(directions(1e-4, 3), 5) << "hardly more pairs are left than guard vectors";
  while (steps.budget.spent() < steps.run.phase.resting_guards) steps.budget.spend();
  EXPECT_EQ(directions(1e-4, 4), 6) << "it has gone on for long";
}

TEST(LobpcgSteps, AMeasuredBasisCorrectsWhatWasLost) {
  for (const bool measured : {false, true}) {
    Steps steps;
    steps.iterate(4);
    steps.disturb_x(1e-7);
    ASSERT_GT(steps.deviation(), 1e-8);
    steps.state.rounding.measure = measured;
    steps.iterate(1);
    EXPECT_EQ(steps.deviation() < 1e-12, measured) << steps.deviation();
  }
}

TEST(LobpcgSteps, AnIterationKnowsHowErrorsGrow) {
  Steps steps;
  steps.iterate(5);
  // As many units as iterations where nothing is amplified; the Gram matrix bears it out.
  EXPECT_GE(steps.state.rounding.amplification, 1.0);
  EXPECT_LT(steps.deviation(), 100.0 * 2.3e-16 * steps.state.rounding.amplification);
}

TEST(LobpcgSteps, TheFirstResortMakesWOrthonormalToAllElse) {
  Steps steps;
  steps.iterate(3);
  steps.expand_basis();
  LobpcgState<double>& state = steps.state;
  DenseBlock<double> noise = steps.space().make_block(4);
  steps.space().fill_random(noise.view(), 5);
  steps.space().copy(state.x.v(), state.w.v());
  steps.problem.context.kernels->axpby(1e-9, noise.view(), 1.0, state.w.v());
  resort_to(steps.run, state, Resort::orthonormal_w);
  ASSERT_EQ(state.w.cols(), 4);
  SmallMatrix along;
  steps.space().gram({state.deflated.v(), state.x.v(), state.p.v()}, {state.w.v()}, along);
  for (const double value : along.values()) EXPECT_LT(std::abs(value), 1e-6);
  EXPECT_FALSE(rayleigh_ritz(steps.run, state, 4).values.empty());
}

TEST(LobpcgSteps, TheSecondResortDropsP) {
  Steps steps;
  steps.iterate(3);
  steps.expand_basis();
  resort_to(steps.run, steps.state, Resort::without_p);
  EXPECT_EQ(steps.state.p.cols(), 0);
  const RitzSolution solution = rayleigh_ritz(steps.run, steps.state, 4);
  ASSERT_EQ(solution.values.size(), 4u);
  update(steps.run, steps.state, solution);
  EXPECT_EQ(steps.state.p.cols(), 4);
  EXPECT_LT(steps.deviation(), 1e-12);
}

TEST(LobpcgSteps, TheLastResortRenewsXAndGoesOn) {
  Steps steps;
  steps.iterate(3);
  steps.expand_basis();
  steps.disturb_x(0.3);
  resort_to(steps.run, steps.state, Resort::renewed_x);
  EXPECT_LT(steps.deviation(), 1e-12);
  EXPECT_LT(steps.along_deflated(steps.state.x.v()), 1e-12);
  const std::vector<double> before = steps.state.ritz.values;
  const RitzSolution solution = rayleigh_ritz(steps.run, steps.state, 4);
  ASSERT_EQ(solution.values.size(), 4u);
  for (std::size_t j = 0; j < 4; ++j) EXPECT_LE(solution.values[j], before[j] + 1e-12);
  update(steps.run, steps.state, solution);
  EXPECT_EQ(steps.state.p.cols(), 4);
  EXPECT_LT(steps.deviation(), 1e-12);
}

TEST(LobpcgSteps, ValuesThatAreNotFiniteLeaveXAsItIs) {
  Steps steps;
  steps.iterate(3);
  steps.expand_basis();
  const std::vector<double> before = steps.state.ritz.values;
  steps.problem.context.kernels->axpby(std::numeric_limits<double>::infinity(), steps.state.w.v(), 0.0,
                                       steps.state.w.v());
  EXPECT_TRUE(rayleigh_ritz(steps.run, steps.state, 4).values.empty());
  EXPECT_EQ(steps.state.ritz.values, before);
  EXPECT_LT(steps.deviation(), 1e-12);
}

// Rounding errors make such copies where blocks of B differ by powers of ten.
TEST(LobpcgSteps, CopiesGiveWayInTheFinalCheck) {
  for (const bool with_mass : {false, true}) {
    Steps steps(with_mass);
    LobpcgState<double>& state = steps.state;
    steps.iterate(3);
    // The last column becomes the sum of the others, and X beside it is as it was.
    SmallMatrix coefficients = SmallMatrix::identity(4);
    coefficients(3, 3) = 0.0;
    for (int i = 0; i < 3; ++i) coefficients(i, 3) = std::sqrt(1.0 / 3.0);
    steps.space().update({state.x.v()}, coefficients, {state.x.v()});
    if (with_mass) steps.mass->apply(state.x.v(), state.x.b());
    const FinalCheck check = check_locked(steps.run, state);
    ASSERT_EQ(state.deflated.locked(), 4);
    EXPECT_EQ(check.pairs.count(), 4);
    SmallMatrix gram;
    steps.space().gram({state.deflated.v()}, {state.deflated.b()}, gram);
    for (int j = 0; j < gram.cols(); ++j) {
      for (int i = 0; i < gram.rows(); ++i) EXPECT_NEAR(gram(i, j), i == j ? 1.0 : 0.0, 1e-12);
    }
    // No pair of its own, and it says so.
    EXPECT_FALSE(check.failed.empty());
  }
}

}  // namespace
}  // namespace block_eigs
