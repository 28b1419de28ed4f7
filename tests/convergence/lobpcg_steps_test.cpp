#include "solver/lobpcg/lobpcg_steps.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "io/generate/generate.hpp"
#include "solver/lobpcg/lobpcg_start.hpp"
#include "tests/support/eigen_problem.hpp"

// Steps of the iteration that keep its vectors orthogonal to what is deflated.
namespace block_eigs {
namespace {

/// Four random constraints, and a start block beside them.
struct Steps {
  Steps() : problem(*laplacian2d(Communicator(MPI_COMM_WORLD), {.size = {20, 19}})) {
    DenseBlock<double> constraints = space().make_block(4);
    space().fill_random(constraints.view(), 7);
    state.window = make_window(options, false);
    take_constraints(run, state, constraints);
    start_block(run, state, {});
  }
  BlockSpace<double>& space() { return problem.space; }
  double along_deflated(ConstBlockView<double> x) {
    SmallMatrix products;
    space().gram({state.deflated.v()}, {x}, products);
    double most = 0.0;
    for (const double value : products.values()) most = std::max(most, std::abs(value));
    return most;
  }
  /// Deflated vectors with a part of 1e-7 beside them.
  void fill_nearly_deflated(BlockView<double> x) {
    space().fill_random(x, 3);
    problem.context.kernels->axpby(1.0, state.deflated.v(), 1e-7, x);
  }

  test::Problem<double> problem;
  LobpcgOptions options{.pairs = 4, .block_size = 4};
  Budget budget{10};
  Observer observer;
  std::vector<LobpcgIteration> history;
  LobpcgRun<double> run{{problem.space, problem.matrix, nullptr, nullptr}, options, {}, budget, observer, history};
  LobpcgState<double> state{problem.space, options, 4, 4, false};
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

TEST(LobpcgSteps, DirectionsOfAnotherPhaseAreDeflated) {
  Steps steps;
  DenseBlock<double> directions = steps.space().make_block(4);
  steps.fill_nearly_deflated(directions.view());
  take_directions(steps.run, steps.state, directions);
  EXPECT_LT(steps.along_deflated(steps.state.x.v()), 1e-12);
  EXPECT_LT(steps.along_deflated(steps.state.p.v()), 1e-12);
}

}  // namespace
}  // namespace block_eigs
