#include <gtest/gtest.h>

#include <string>

#include "io/generate/generate.hpp"
#include "solver/block_cg/block_cg.hpp"
#include "solver/block_cg/block_cg_adaptive.hpp"
#include "solver/block_cg/deferred_solution.hpp"
#include "solver/lobpcg/lobpcg_mixed.hpp"
#include "solver/multigrid/amg.hpp"
#include "solver/multigrid/smoothed_aggregation.hpp"
#include "solver/preconditioner/cast_operator.hpp"
#include "solver/preconditioner/chebyshev.hpp"
#include "solver/preconditioner/jacobi.hpp"
#include "spmm/error.hpp"
#include "tests/support/kept_state.hpp"
#include "tests/support/linear_problem.hpp"

// The solvers on a GPU: against closed forms, against the host, and what travels between the two in an iteration.
namespace block_eigs {
namespace {

using OnDevice = test::Problem<double>;

class GpuSolvers : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      make_device(Backend::cuda, 0);
    } catch (const InputError&) {
      GTEST_SKIP() << "this machine has no GPU, or this build no CUDA backend: nothing was tested";
    }
  }

  static std::size_t bytes_of(const Device& device) {
    return device.transferred().to_device + device.transferred().to_host;
  }

  /// Bytes that go either way in `iterations` iterations, start and end included.
  static std::size_t bytes_for(OnDevice& problem, int iterations) {
    LobpcgOptions options;
    options.pairs = 8;
    options.tolerance = 1e-14;
    options.max_iterations = iterations;
    const std::size_t before = bytes_of(*problem.context.device);
    const auto result = lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, options);
    EXPECT_EQ(result.iterations, iterations);
    return bytes_of(*problem.context.device) - before;
  }
};

TEST_F(GpuSolvers, LobpcgFindsTheSpectrumOfTheCube) {
  const LaplacianOptions grid{.size = {20, 20, 20}};
  const Communicator comm(MPI_COMM_WORLD);
  for (const bool filtered : {false, true}) {
    OnDevice problem(*laplacian3d(comm, grid), Backend::cuda);
    Chebyshev<double> chebyshev(problem.context, problem.matrix, problem.matrix.diagonal(),
                                problem.matrix.scaled_gershgorin_bound(), {});
    LobpcgOptions options;
    options.pairs = 12;
    options.tolerance = 1e-10;
    options.filtered_start = filtered;
    const auto result = lobpcg<double>(problem.space, problem.matrix, nullptr, filtered ? nullptr : &chebyshev,
                                       nullptr, {}, options);
    const std::vector<double> exact = closed_form_laplacian_eigenvalues(grid, options.pairs);
    ASSERT_EQ(result.eigenvalues.size(), exact.size()) << result.remark;
    for (std::size_t j = 0; j < exact.size(); ++j) EXPECT_NEAR(result.eigenvalues[j], exact[j], 1e-11 * exact[j]);
  }
}

TEST_F(GpuSolvers, LobpcgBegunInFloatFindsTheSpectrumOfTheCube) {
  const LaplacianOptions grid{.size = {21, 20, 19}};
  const Communicator comm(MPI_COMM_WORLD);
  const auto source = laplacian3d(comm, grid);
  OnDevice problem(*source, Backend::cuda);
  Amg<float> cycle(with_precision<float>(problem.context),
                   smoothed_aggregation(comm, source->read(problem.partition), problem.partition, {}), {});
  CastOperator outer(problem.context, cycle);
  const LobpcgOptions options{.pairs = 12, .tolerance = 1e-10};
  const auto result =
      lobpcg_mixed(problem.space, problem.matrix, &outer, {cycle.finest_matrix(), &cycle}, nullptr, {}, options);
  const std::vector<double> exact = closed_form_laplacian_eigenvalues(grid, options.pairs);
  ASSERT_EQ(result.eigenvalues.size(), exact.size()) << result.remark;
  for (std::size_t j = 0; j < exact.size(); ++j) {
    EXPECT_EQ(result.outcomes[j], Outcome::converged);
    EXPECT_NEAR(result.eigenvalues[j], exact[j], 1e-11 * exact[j]);
  }
}

TEST_F(GpuSolvers, BlockCgWithAmgSolvesAsTheHostDoes) {
  const LaplacianOptions grid{.size = {17, 18, 19}};
  const Communicator comm(MPI_COMM_WORLD);
  std::vector<std::vector<double>> solutions;
  for (const Backend backend : {Backend::host, Backend::cuda}) {
    const auto source = laplacian3d(comm, grid);
    OnDevice problem(*source, backend);
    Amg<double> amg(problem.context,
                    smoothed_aggregation(comm, source->read(problem.partition), problem.partition, {}), {});
    DenseBlock<double> f(problem.context.device, problem.matrix.rows(), 5);
    problem.space.fill_random(f.view(), 3);
    BlockCgOptions options;
    options.tolerance = 1e-11;
    solutions.push_back(block_cg<double>(problem.space, problem.matrix, &amg, f, {}, options).solution.to_host());
  }
  double largest = 0.0;
  for (const double x : solutions[0]) largest = std::max(largest, std::abs(x));
  for (std::size_t k = 0; k < solutions[0].size(); ++k)
    ASSERT_NEAR(solutions[0][k], solutions[1][k], 1e-8 * largest);
}

/// Blocks so large that the solution is brought up to date while the host is waited for.
TEST_F(GpuSolvers, BlockCgWithLargeBlocksLeavesTrueResiduals) {
  const Communicator comm(MPI_COMM_WORLD);
  OnDevice problem(*laplacian3d(comm, {.size = {64, 64, 132}}), Backend::cuda);
  Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
  const int sides = 16;
  ASSERT_TRUE(
      bcgrq::DeferredSolution<double>::pays(*problem.context.device, &jacobi, problem.matrix.rows(), sides));
  const DenseBlock<double> f = test::random_rhs(problem.space, sides);
  for (LinearOperator<double>* const preconditioner :
       {static_cast<LinearOperator<double>*>(nullptr), static_cast<LinearOperator<double>*>(&jacobi)}) {
    for (const int iterations : {1, 9, 1000}) {
      BlockCgOptions options;
      options.max_iterations = iterations;
      const auto result = block_cg<double>(problem.space, problem.matrix, preconditioner, f, {}, options);
      test::expect_consistent(problem, f, result, options);
      for (const Outcome outcome : result.outcomes) EXPECT_EQ(outcome == Outcome::converged, iterations == 1000);
      if (iterations > 1) {
        EXPECT_LT(result.residual_norms[0], result.rhs_norms[0]);
      }
    }
  }
}

/// Iterations end as they would have, from a state that was saved between two times of bringing X up to date.
TEST_F(GpuSolvers, AStateOfBlockCgLacksNoStepsThatWait) {
  const Communicator comm(MPI_COMM_WORLD);
  OnDevice problem(*laplacian3d(comm, {.size = {64, 64, 132}}), Backend::cuda);
  Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
  ASSERT_TRUE(bcgrq::DeferredSolution<double>::pays(*problem.context.device, &jacobi, problem.matrix.rows(), 16));
  const DenseBlock<double> f = test::random_rhs(problem.space, 16);
  const auto solve = [&](Checkpoint* checkpoint) {
    return block_cg_adaptive<double>(problem.space, problem.matrix, {&jacobi}, {}, f, {}, {}, {}, {}, checkpoint);
  };
  const auto whole = solve(nullptr);
  for (const int iteration : {1, 7, 33}) {
    test::KeptState state(problem.space, iteration);
    solve(&state);
    state.give();
    const auto resumed = solve(&state);
    EXPECT_EQ(resumed.total_iterations, whole.total_iterations) << iteration;
    for (std::size_t j = 0; j < whole.rhs_norms.size(); ++j)
      EXPECT_NEAR(resumed.residual_norms[j], whole.residual_norms[j], 1e-12 * whole.rhs_norms[j]) << iteration;
  }
}

TEST_F(GpuSolvers, IterationsMoveSmallMatricesAlone) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const GlobalIndex edge : {20, 40}) {
    OnDevice problem(*laplacian3d(comm, {.size = {edge, edge, edge}}), Backend::cuda);
    const std::size_t few = bytes_for(problem, 20);
    const std::size_t more = bytes_for(problem, 60);
    const std::size_t an_iteration = (more - few) / 40;
    // Nothing as long as a vector, whatever its length: 34 x 34 numbers at most, some ten times. Where several
    // ranks share the rows, the ghost rows of one block come in and as many go out besides.
    const std::size_t ghosts = static_cast<std::size_t>(problem.matrix.ghosts());
    EXPECT_LT(an_iteration, 64 * 1024U + 4 * ghosts * 16U * sizeof(double)) << edge;
    EXPECT_GT(an_iteration, 0U) << "nothing was counted";
  }
}

}  // namespace
}  // namespace block_eigs
