#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "io/generate/generate.hpp"
#include "solver/preconditioner/jacobi.hpp"
#include "spmm/error.hpp"
#include "tests/support/linear_problem.hpp"

// Right-hand sides that a careless block method stumbles over.
namespace block_eigs {
namespace {

using test::Problem;

constexpr double pi = 3.14159265358979323846;
const LaplacianOptions grid{.size = {11, 10, 9}};

std::unique_ptr<MatrixSource> laplacian() { return laplacian3d(Communicator(MPI_COMM_WORLD), grid); }

/// In [-1, 1), without order.
double noise(GlobalIndex i, int j) {
  return 2.0 * static_cast<double>((i + 1) * (j + 3) * 48271 % 65537) / 65537 - 1.0;
}

/// Eigenvector of the grid's Laplacian.
double mode(GlobalIndex i, int kx, int ky, int kz) {
  const auto [x, y, z] = std::tuple(i % 11, i / 11 % 10, i / 110);
  return std::sin(pi * kx * (x + 1.0) / 12) * std::sin(pi * ky * (y + 1.0) / 11) *
         std::sin(pi * kz * (z + 1.0) / 10);
}

double mode_eigenvalue(int kx, int ky, int kz) {
  return 6 - 2 * std::cos(pi * kx / 12) - 2 * std::cos(pi * ky / 11) - 2 * std::cos(pi * kz / 10);
}

/// Solves with and without a preconditioner and checks what holds for every result.
template <class Rule>
BlockCgResult<double> solve(Problem<double>& problem, int sides, Rule rule, const BlockCgOptions& options = {}) {
  const DenseBlock<double> f = test::make_rhs(problem.space, sides, rule);
  Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
  const auto with = block_cg<double>(problem.space, problem.matrix, &jacobi, f, {}, options);
  test::expect_consistent(problem, f, with, options);
  auto without = block_cg<double>(problem.space, problem.matrix, nullptr, f, {}, options);
  test::expect_consistent(problem, f, without, options);
  return without;
}

void expect_all(const BlockCgResult<double>& result, Outcome outcome) {
  for (const Outcome each : result.outcomes) EXPECT_EQ(each, outcome) << result.remark;
}

int widest(const BlockCgResult<double>& result) {
  int most = 0;
  for (const BlockCgIteration& iteration : result.history) most = std::max(most, iteration.active_columns);
  return most;
}

TEST(BlockCgUgly, AllRightHandSidesEqual) {
  Problem<double> problem(*laplacian());
  const auto result = solve(problem, 7, [](GlobalIndex i, int) { return noise(i, 0); });
  expect_all(result, Outcome::converged);
  EXPECT_EQ(widest(result), 1);
  const std::vector<double> x = test::all_rows(problem.space, result.solution);
  for (std::size_t k = 0; k < x.size(); ++k) EXPECT_NEAR(x[k], x[k / 7 * 7], 1e-12);
}

TEST(BlockCgUgly, AZeroColumnHasTheZeroSolution) {
  Problem<double> problem(*laplacian());
  const auto result = solve(problem, 5, [](GlobalIndex i, int j) { return j == 2 ? 0.0 : noise(i, j); });
  expect_all(result, Outcome::converged);
  EXPECT_EQ(result.iterations[2], 0);
  EXPECT_EQ(result.residual_norms[2], 0.0);
  const std::vector<double> x = test::all_rows(problem.space, result.solution);
  for (std::size_t k = 2; k < x.size(); k += 5) EXPECT_EQ(x[k], 0.0);
  EXPECT_EQ(widest(result), 4);
}

TEST(BlockCgUgly, NothingButZeroColumns) {
  Problem<double> problem(*laplacian());
  const auto result = solve(problem, 3, [](GlobalIndex, int) { return 0.0; });
  expect_all(result, Outcome::converged);
  EXPECT_EQ(result.total_iterations, 0);
}

TEST(BlockCgUgly, AZeroColumnForgetsItsInitialGuess) {
  Problem<double> problem(*laplacian());
  const DenseBlock<double> f =
      test::make_rhs(problem.space, 2, [](GlobalIndex i, int j) { return j * noise(i, j); });
  const auto result =
      block_cg<double>(problem.space, problem.matrix, nullptr, f, test::random_rhs(problem.space, 2), {});
  test::expect_consistent(problem, f, result, {});
  const std::vector<double> x = test::all_rows(problem.space, result.solution);
  for (std::size_t k = 0; k < x.size(); k += 2) EXPECT_EQ(x[k], 0.0);
}

TEST(BlockCgUgly, OneColumnIsTheSumOfTwoOthers) {
  Problem<double> problem(*laplacian());
  const auto result =
      solve(problem, 6, [](GlobalIndex i, int j) { return j == 5 ? noise(i, 1) + noise(i, 3) : noise(i, j); });
  expect_all(result, Outcome::converged);
  EXPECT_EQ(widest(result), 5);
  const std::vector<double> x = test::all_rows(problem.space, result.solution);
  for (std::size_t k = 0; k < x.size(); k += 6) EXPECT_NEAR(x[k + 5], x[k + 1] + x[k + 3], 1e-6);
}

TEST(BlockCgUgly, ColumnsThatDifferByLittleAreAllSolved) {
  Problem<double> problem(*laplacian());
  for (const double little : {1e-4, 1e-7, 1e-9, 1e-12}) {
    const BlockCgOptions options{.tolerance = 1e-11};
    const auto result = solve(
        problem, 4, [&](GlobalIndex i, int j) { return noise(i, 0) + little * noise(i, j + 1); }, options);
    expect_all(result, Outcome::converged);
  }
}

TEST(BlockCgUgly, ColumnsOfVeryDifferentSize) {
  Problem<double> problem(*laplacian());
  const auto result =
      solve(problem, 5, [](GlobalIndex i, int j) { return std::pow(10.0, 60 * (j - 2)) * noise(i, j); });
  expect_all(result, Outcome::converged);
}

TEST(BlockCgUgly, MoreRightHandSidesThanRows) {
  const Communicator comm(MPI_COMM_WORLD);
  Problem<double> problem(*laplacian1d(comm, {.size = {5}}));
  for (const int sides : {5, 6, 16, 40}) {
    const auto result = solve(problem, sides, noise, {.tolerance = 1e-12});
    expect_all(result, Outcome::converged);
    EXPECT_LE(widest(result), 5);
  }
}

TEST(BlockCgUgly, OneRow) {
  const Communicator comm(MPI_COMM_WORLD);
  Problem<double> problem(*laplacian1d(comm, {.size = {1}}));
  const auto result = solve(problem, 3, [](GlobalIndex, int j) { return j + 1.0; });
  expect_all(result, Outcome::converged);
  const std::vector<double> x = test::all_rows(problem.space, result.solution);
  for (int j = 0; j < 3; ++j) EXPECT_NEAR(x[static_cast<std::size_t>(j)], (j + 1.0) / 2, 1e-15 * (j + 1));
}

TEST(BlockCgUgly, AnEigenvectorTakesOneIteration) {
  Problem<double> problem(*laplacian());
  const auto result =
      solve(problem, 4, [](GlobalIndex i, int j) { return j < 3 ? mode(i, j + 1, 2, 3) : noise(i, 0); });
  expect_all(result, Outcome::converged);
  for (std::size_t j = 0; j < 3; ++j) EXPECT_LE(result.iterations[j], 2);
  EXPECT_GT(result.iterations[3], 10);
  // The three directions that nobody needs any more have left.
  EXPECT_EQ(result.history.back().active_columns, 1);
  const std::vector<double> x = test::all_rows(problem.space, result.solution);
  for (GlobalIndex i = 0; i < problem.space.dimension(); ++i) {
    EXPECT_NEAR(x[static_cast<std::size_t>(4 * i)], mode(i, 1, 2, 3) / mode_eigenvalue(1, 2, 3), 1e-7);
  }
}

TEST(BlockCgUgly, EasyAndHardRightHandSidesLeaveWhenTheyAreDone) {
  Problem<double> problem(*laplacian());
  // Column j is a sum of 2 j + 1 eigenvectors that no other column has: it takes at most so many steps.
  const auto rule = [](GlobalIndex i, int j) {
    double sum = 0.0;
    for (int k = j * j; k < (j + 1) * (j + 1); ++k) {
      const int which = k * 7919 % 990;
      sum += mode(i, 1 + which % 11, 1 + which / 11 % 10, 1 + which / 110);
    }
    return sum;
  };
  const auto result = solve(problem, 12, rule);
  expect_all(result, Outcome::converged);
  const auto alone = solve(problem, 12, rule, {.block_size = 1});
  for (std::size_t j = 0; j < 12; ++j) EXPECT_LE(result.iterations[j], alone.iterations[j] + 2) << j;
  EXPECT_EQ(result.iterations[0], 1);
  int before = 12;
  for (const BlockCgIteration& iteration : result.history) {
    EXPECT_LE(iteration.active_columns, before);
    before = iteration.active_columns;
  }
  EXPECT_LE(before, 4);
}

TEST(BlockCgUgly, AlreadySolvedByTheInitialGuess) {
  Problem<double> problem(*laplacian());
  const DenseBlock<double> f = test::random_rhs(problem.space, 6);
  auto first = block_cg<double>(problem.space, problem.matrix, nullptr, f, {}, {});
  const std::vector<double> before = test::all_rows(problem.space, first.solution);
  const auto second = block_cg<double>(problem.space, problem.matrix, nullptr, f, std::move(first.solution), {});
  test::expect_consistent(problem, f, second, {});
  EXPECT_EQ(second.total_iterations, 0);
  EXPECT_EQ(test::all_rows(problem.space, second.solution), before);
}

TEST(BlockCgUgly, GoesOnFromAnEarlierResult) {
  Problem<double> problem(*laplacian());
  const DenseBlock<double> f = test::random_rhs(problem.space, 6);
  auto rough = block_cg<double>(problem.space, problem.matrix, nullptr, f, {}, {.tolerance = 1e-4});
  const auto whole = block_cg<double>(problem.space, problem.matrix, nullptr, f, {}, {});
  const auto rest = block_cg<double>(problem.space, problem.matrix, nullptr, f, std::move(rough.solution), {});
  test::expect_consistent(problem, f, rest, {});
  EXPECT_EQ(rest.remark, "");
  EXPECT_LT(rest.total_iterations, whole.total_iterations);
}

TEST(BlockCgUgly, TheIdentity) {
  test::RuleSource source(50, [](GlobalIndex i, GlobalIndex j) { return i == j ? 1.0 : 0.0; });
  Problem<double> problem(source);
  const auto result = solve(problem, 8, noise);
  expect_all(result, Outcome::converged);
  EXPECT_EQ(result.total_iterations, 1);
}

class Unreachable : public ::testing::TestWithParam<double> {};

TEST_P(Unreachable, EndsAtTheAccuracyLimit) {
  Problem<double> problem(*laplacian());
  const BlockCgOptions options{.tolerance = GetParam(), .max_iterations = 2000};
  const auto result = solve(problem, 6, noise, options);
  expect_all(result, Outcome::at_accuracy_limit);
  EXPECT_LT(result.total_iterations, 300);
  for (std::size_t j = 0; j < 6; ++j) EXPECT_LE(result.residual_norms[j], 1e-13 * result.rhs_norms[j]);
}

INSTANTIATE_TEST_SUITE_P(Tolerances, Unreachable, ::testing::Values(0.0, 1e-300, 1e-18));

TEST(BlockCgUgly, FloatEndsAtItsOwnAccuracyLimit) {
  Problem<float> problem(*laplacian());
  const DenseBlock<float> f = test::random_rhs(problem.space, 9);
  const BlockCgOptions options{.tolerance = 1e-12, .max_iterations = 2000};
  const auto result = block_cg<float>(problem.space, problem.matrix, nullptr, f, {}, options);
  test::expect_consistent(problem, f, result, options);
  for (const Outcome outcome : result.outcomes) EXPECT_EQ(outcome, Outcome::at_accuracy_limit);
}

TEST(BlockCgUgly, IterationsUsedUp) {
  Problem<double> problem(*laplacian());
  const BlockCgOptions options{.max_iterations = 5};
  const auto result = solve(problem, 4, noise, options);
  expect_all(result, Outcome::not_converged);
  EXPECT_EQ(result.total_iterations, 5);
  EXPECT_EQ(result.remark, "max_iterations = 5 reached");
}

/// Second differences of a path of 300 points, twice: residuals of conjugate gradients exceed the right-hand side.
double beam(GlobalIndex i, GlobalIndex j) {
  const GlobalIndex apart = std::abs(i - j);
  const bool at_end = i == 0 || i == 299;
  return apart == 0 ? (at_end ? 5.0 : 6.0) : apart == 1 ? -4.0 : apart == 2 ? 1.0 : 0.0;
}

TEST(BlockCgUgly, WhatIsLeftUndoneIsNoWorseThanTheStart) {
  test::RuleSource source(300, beam);
  Problem<double> problem(source);
  const DenseBlock<double> f = test::make_rhs(problem.space, 5, noise);
  const DenseBlock<double> g = test::make_rhs(problem.space, 5, [](GlobalIndex i, int) { return i % 3 - 1.0; });
  Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
  for (const int iterations : {20, 30, 40}) {
    for (const int block_size : {2, 16}) {
      SCOPED_TRACE(std::to_string(iterations) + " iterations, " + std::to_string(block_size) + " at once");
      const BlockCgOptions options{.max_iterations = iterations, .block_size = block_size};
      for (const bool guess : {false, true}) {
        DenseBlock<double> initial;
        if (guess) {
          initial = problem.space.make_block(5);
          problem.space.kernels().axpby(0.01, g.view(), 0.0, initial.view());
        }
        const std::vector<double> before =
            guess ? test::true_norms(problem, f, initial) : problem.space.column_norms(f.view());
        const auto result =
            block_cg<double>(problem.space, problem.matrix, &jacobi, f, std::move(initial), options);
        test::expect_consistent(problem, f, result, options);
        expect_all(result, Outcome::not_converged);
        for (std::size_t j = 0; j < before.size(); ++j) {
          EXPECT_LE(result.residual_norms[j], before[j] * (1 + 1e-12)) << j;
        }
      }
    }
  }
}

TEST(BlockCgUgly, TurnsCountTheirOwnIterations) {
  Problem<double> problem(*laplacian());
  const auto result = solve(problem, 21, noise, {.block_size = 8});
  expect_all(result, Outcome::converged);
  EXPECT_EQ(static_cast<int>(result.history.size()), result.total_iterations);
  EXPECT_GT(result.total_iterations, *std::max_element(result.iterations.begin(), result.iterations.end()));
  EXPECT_LE(widest(result), 8);
}

TEST(BlockCgUgly, TheObserverSeesEveryIteration) {
  Problem<double> problem(*laplacian());
  const DenseBlock<double> f = test::random_rhs(problem.space, 10);
  int calls = 0;
  int converged = 0;
  const auto result = block_cg<double>(problem.space, problem.matrix, nullptr, f, {}, {.block_size = 4},
                                       [&](const IterationReport& report) {
                                         EXPECT_EQ(report.iteration, ++calls);
                                         EXPECT_EQ(report.wanted, 10);
                                         EXPECT_GE(report.converged, converged);
                                         EXPECT_EQ(report.residual_norms.size(), 10u);
                                         converged = report.converged;
                                       });
  EXPECT_EQ(calls, result.total_iterations);
  EXPECT_EQ(converged, 10);
}

TEST(BlockCgUgly, ValuesThatAreNotFiniteAreNamed) {
  Problem<double> problem(*laplacian());
  const auto bad = [](GlobalIndex i, int j) {
    return i == 700 && j == 2 ? std::numeric_limits<double>::quiet_NaN() : 1.0;
  };
  const DenseBlock<double> f = test::make_rhs(problem.space, 4, bad);
  EXPECT_THROW(block_cg<double>(problem.space, problem.matrix, nullptr, f, {}, {}), Error);
  const DenseBlock<double> good = test::random_rhs(problem.space, 4);
  EXPECT_THROW(
      block_cg<double>(problem.space, problem.matrix, nullptr, good, test::make_rhs(problem.space, 4, bad), {}),
      Error);
  EXPECT_THROW(
      block_cg<double>(problem.space, problem.matrix, nullptr, good, test::random_rhs(problem.space, 3), {}),
      Error);
}

}  // namespace
}  // namespace block_eigs
