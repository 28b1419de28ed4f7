#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "io/generate/generate.hpp"
#include "solver/lobpcg/lobpcg_loop.hpp"
#include "solver/lobpcg/lobpcg_start.hpp"
#include "solver/lobpcg/lobpcg_steps.hpp"
#include "tests/support/eigen_problem.hpp"
#include "tests/support/linear_problem.hpp"

// Steps that begin before the norms of R are known.
namespace block_eigs {
namespace {

/// Five columns for three pairs, A X and A P not being stored.
struct Plain {
  explicit Plain(double tolerance, LobpcgPhase phase = {}) : run_phase(phase) {
    options.tolerance = tolerance;
    state.window = make_window(options, false);
    start_block<double>(run, state, {});
  }
  BlockSpace<double>& space() { return problem.space; }

  void iterate(bool looks_ahead) {
    int fresh = 0;
    if (!state.ahead) {
      fresh = expand(run, state);
      orthogonalize(run, state, fresh);
      problem.matrix.apply(state.w.v(), state.w.a());
    }
    update(run, state, rayleigh_ritz(run, state, state.active() + fresh), looks_ahead);
    budget.spend();
    refresh(run, state);
  }
  /// Largest norm of a column of R - (A X - X Lambda).
  double error_of_r() {
    DenseBlock<double> r = space().make_block(state.active());
    DenseBlock<double> ax = space().make_block(state.active());
    problem.matrix.apply(state.x.v(), ax.view());
    space().residual(ax.view(), state.x.v(), state.ritz.values, r.view());
    problem.context.kernels->axpby(-1.0, state.r.view(), 1.0, r.view());
    double most = 0.0;
    for (const double norm : space().column_norms(r.view())) most = std::max(most, norm);
    return most;
  }

  test::Problem<double> problem{*laplacian2d(Communicator(MPI_COMM_WORLD), {.size = {90, 70}})};
  LobpcgPhase run_phase;
  LobpcgOptions options{.pairs = 3, .block_size = 5};
  Budget budget{200};
  Observer observer;
  Proceed proceed;
  std::vector<LobpcgIteration> history;
  LobpcgRun<double> run{{problem.space, problem.matrix}, options, run_phase, budget, observer, proceed, history};
  LobpcgState<double> state{run.problem, options, 5, 0};
};

TEST(LobpcgAhead, NormsThatComeWithTheProductsAreThoseOfR) {
  Plain ahead(1e-8);
  Plain plain(1e-8);
  ASSERT_FALSE(ahead.state.carries_images);
  for (int k = 0; k < 25; ++k) {
    ahead.iterate(true);
    plain.iterate(false);
    ASSERT_TRUE(ahead.state.ahead.has_value()) << "iteration " << k;
    ASSERT_FALSE(plain.state.ahead.has_value());
    for (std::size_t j = 0; j < 5; ++j) {
      const double norm = plain.state.ritz.residuals[j];
      EXPECT_NEAR(ahead.state.ritz.residuals[j], norm, 1e-6 * norm) << "iteration " << k << ", column " << j;
      EXPECT_NEAR(ahead.state.ritz.values[j], plain.state.ritz.values[j], 1e-12);
    }
  }
}

TEST(LobpcgAhead, AStepBackLeavesROfTheStepThatWasTaken) {
  Plain steps(1e-8);
  for (int k = 0; k < 6; ++k) steps.iterate(true);
  ASSERT_TRUE(steps.state.ahead.has_value());
  step_back(steps.state);
  EXPECT_FALSE(steps.state.ahead.has_value());
  EXPECT_LT(steps.error_of_r(), 1e-14);
  const std::vector<double> before = steps.state.ritz.values;
  steps.iterate(true);
  for (std::size_t j = 0; j < 5; ++j) EXPECT_LE(steps.state.ritz.values[j], before[j] + 1e-12);
  step_back(steps.state);
  step_back(steps.state);  // nothing to go back from
  EXPECT_LT(steps.error_of_r(), 1e-14);
}

TEST(LobpcgAhead, APairThatIsDoneIsLockedAndTheOthersGoOn) {
  Plain steps(1e-2);
  while (steps.state.locked.count() == 0 && !steps.budget.exhausted()) {
    steps.iterate(true);
    lock_converged(steps.run, steps.state);
  }
  ASSERT_GT(steps.state.locked.count(), 0);
  EXPECT_FALSE(steps.state.ahead.has_value());
  EXPECT_LT(steps.error_of_r(), 1e-14);
}

TEST(LobpcgAhead, NothingIsBegunWhereWIsNotROrTheEndIsNear) {
  Plain strict(1e-15);
  strict.iterate(true);
  EXPECT_FALSE(strict.state.ahead.has_value());
  Plain last(1e-8);
  last.budget = Budget(1);
  last.iterate(true);
  EXPECT_FALSE(last.state.ahead.has_value());
  Plain resting(1e-8, LobpcgPhase::refinement());
  resting.iterate(true);
  EXPECT_FALSE(resting.state.ahead.has_value());
}

TEST(LobpcgAhead, TheLoopEndsWithR) {
  for (const double tolerance : {1e-3, 1e-9}) {
    Plain steps(tolerance);
    steps.budget = Budget(tolerance > 1e-6 ? 200 : 7);
    const LoopEnd end = lobpcg_loop(steps.run, steps.state);
    EXPECT_EQ(end, tolerance > 1e-6 ? LoopEnd::window_done : LoopEnd::out_of_budget);
    EXPECT_FALSE(steps.state.ahead.has_value());
    EXPECT_LT(steps.error_of_r(), 1e-14);
  }
}

}  // namespace
}  // namespace block_eigs
