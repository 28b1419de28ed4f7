#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>

#include "io/generate/generate.hpp"
#include "solver/preconditioner/cast_operator.hpp"
#include "solver/preconditioner/chebyshev.hpp"
#include "solver/preconditioner/jacobi.hpp"
#include "tests/support/linear_problem.hpp"

// Block CG against LAPACK's dense Cholesky, with every preconditioner, block size and precision.
namespace block_eigs {
namespace {

constexpr int n = 203;

/// Positive definite, far from constant on the diagonal; condition number about 1e4.
double entry(GlobalIndex i, GlobalIndex j) {
  const GlobalIndex apart = std::abs(i - j);
  if (i == j) return 2.001 + (i % 11 == 0 ? 500.0 : 0.0);
  if (apart == 1) return -0.75;
  return apart == 17 ? -0.25 : 0.0;
}

template <class T>
std::unique_ptr<LinearOperator<T>> preconditioner_for(const std::string& name, test::Problem<T>& problem) {
  if (name == "jacobi") return std::make_unique<Jacobi<T>>(problem.context, problem.matrix.diagonal());
  if (name == "chebyshev") {
    return std::make_unique<Chebyshev<T>>(problem.context, problem.matrix, problem.matrix.diagonal(),
                                          problem.matrix.scaled_gershgorin_bound(), ChebyshevOptions{.degree = 4});
  }
  return nullptr;
}

template <class T>
void expect_cholesky(const std::string& preconditioner, int sides, int block_size, double tolerance) {
  test::RuleSource source(n, entry);
  test::Problem<T> problem(source);
  const auto inverse = preconditioner_for(preconditioner, problem);
  const DenseBlock<T> f = test::random_rhs(problem.space, sides);
  const BlockCgOptions options{.tolerance = tolerance, .max_iterations = 600, .block_size = block_size};
  const auto result = block_cg<T>(problem.space, problem.matrix, inverse.get(), f, {}, options);
  test::expect_consistent(problem, f, result, options);
  EXPECT_EQ(result.remark, "");
  const std::vector<double> exact = test::dense_solution(n, entry, test::all_rows(problem.space, f));
  const std::vector<double> found = test::all_rows(problem.space, result.solution);
  // ||x - x*|| <= ||r|| / lambda_min, and no eigenvalue is below 2.001 - 2 (0.75 + 0.25).
  constexpr double smallest_eigenvalue = 1e-3;
  for (int j = 0; j < sides; ++j) {
    double squared = 0.0;
    for (int i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i * sides + j);
      squared += std::pow(found[k] - exact[k], 2);
    }
    const double residual = result.residual_norms[static_cast<std::size_t>(j)];
    EXPECT_LE(std::sqrt(squared), 1.01 * residual / smallest_eigenvalue + 1e-10) << j;
  }
}

class AgainstCholesky : public ::testing::TestWithParam<std::tuple<std::string, int, int>> {};

TEST_P(AgainstCholesky, Double) {
  const auto [preconditioner, sides, block_size] = GetParam();
  expect_cholesky<double>(preconditioner, sides, block_size, 1e-11);
}

TEST_P(AgainstCholesky, Float) {
  const auto [preconditioner, sides, block_size] = GetParam();
  expect_cholesky<float>(preconditioner, sides, block_size, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(All, AgainstCholesky,
                         ::testing::Combine(::testing::Values("none", "jacobi", "chebyshev"),
                                            ::testing::Values(1, 5, 16, 37), ::testing::Values(1, 8, 16)));

TEST(BlockCg, OneRightHandSideTakesAsManyStepsAsTextbookCg) {
  test::RuleSource source(n, entry);
  test::Problem<double> problem(source);
  const DenseBlock<double> f = test::random_rhs(problem.space, 1);
  const BlockCgOptions options{.tolerance = 1e-8};
  const auto result = block_cg<double>(problem.space, problem.matrix, nullptr, f, {}, options);
  // Hestenes and Stiefel on the dense matrix.
  std::vector<double> r = test::all_rows(problem.space, f), p = r, ap(n);
  double squared = 0.0;
  for (const double value : r) squared += value * value;
  const double limit = 1e-16 * squared;
  int steps = 0;
  for (; squared > limit; ++steps) {
    double curvature = 0.0;
    for (int i = 0; i < n; ++i) {
      ap[static_cast<std::size_t>(i)] = 0.0;
      for (int j = 0; j < n; ++j) ap[static_cast<std::size_t>(i)] += entry(i, j) * p[static_cast<std::size_t>(j)];
      curvature += p[static_cast<std::size_t>(i)] * ap[static_cast<std::size_t>(i)];
    }
    const double before = squared;
    squared = 0.0;
    for (std::size_t i = 0; i < r.size(); ++i) {
      r[i] -= before / curvature * ap[i];
      squared += r[i] * r[i];
    }
    for (std::size_t i = 0; i < r.size(); ++i) p[i] = r[i] + squared / before * p[i];
  }
  EXPECT_NEAR(result.total_iterations, steps, 1);
}

TEST(BlockCg, MoreRightHandSidesTakeFewerIterations) {
  const Communicator comm(MPI_COMM_WORLD);
  test::Problem<double> problem(*laplacian3d(comm, {.size = {14, 13, 12}}));
  int before = 1 << 30;
  for (const int sides : {1, 4, 16}) {
    const DenseBlock<double> f = test::random_rhs(problem.space, sides);
    const auto result = block_cg<double>(problem.space, problem.matrix, nullptr, f, {}, {});
    EXPECT_LT(result.total_iterations, before);
    before = result.total_iterations;
  }
}

TEST(BlockCg, AFloatPreconditionerServesTheDoubleSolver) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto source = laplacian3d(comm, {.size = {14, 13, 12}});
  test::Problem<double> problem(*source);
  test::Problem<float> rounded(*source);
  const ChebyshevOptions degree{.degree = 5};
  const double bound = problem.matrix.scaled_gershgorin_bound();
  Chebyshev<double> chebyshev(problem.context, problem.matrix, problem.matrix.diagonal(), bound, degree);
  Chebyshev<float> inner(rounded.context, rounded.matrix, problem.matrix.diagonal(), bound, degree);
  CastOperator cast(problem.context, inner);
  const DenseBlock<double> f = test::random_rhs(problem.space, 12);
  const BlockCgOptions options{.tolerance = 1e-12};
  const auto in_double = block_cg<double>(problem.space, problem.matrix, &chebyshev, f, {}, options);
  const auto in_float = block_cg<double>(problem.space, problem.matrix, &cast, f, {}, options);
  test::expect_consistent(problem, f, in_float, options);
  EXPECT_EQ(in_float.remark, "");
  EXPECT_LE(in_float.total_iterations, in_double.total_iterations + 2);
}

TEST(BlockCg, MultipliesOneColumnADirectionAndTheTruthOnce) {
  const Communicator comm(MPI_COMM_WORLD);
  test::Problem<double> problem(*laplacian3d(comm, {.size = {14, 13, 12}}));
  test::CountingOperator<double> counted(problem.matrix);
  const DenseBlock<double> f = test::random_rhs(problem.space, 8);
  const auto result = block_cg<double>(problem.space, counted, nullptr, f, {}, {});
  long directions = 0;
  for (const BlockCgIteration& iteration : result.history) directions += iteration.active_columns;
  EXPECT_EQ(counted.count, directions + 8);
  EXPECT_EQ(static_cast<int>(result.history.size()), result.total_iterations);
}

}  // namespace
}  // namespace block_eigs
