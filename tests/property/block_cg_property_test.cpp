#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "solver/block_cg/block_cg_mixed.hpp"
#include "solver/preconditioner/jacobi.hpp"
#include "tests/support/linear_problem.hpp"
#include "tests/support/random_problem.hpp"

// Whatever the shapes, however dependent the right-hand sides, block CG finds what LAPACK's Cholesky finds, and
// what it says of its result is true.
namespace block_eigs {
namespace {

using test::Random;

constexpr double condition = 1e3;

/// A random system; the same on all ranks.
struct RandomSystem {
  explicit RandomSystem(std::uint64_t seed)
      : random(seed),
        n(test::whole(random, 1, 60)),
        sides(test::whole(random, 1, 24)),
        a(test::random_spd(random, n, condition)),
        f(test::random_sides(random, n, sides)),
        jacobi(test::whole(random, 0, 1) == 1) {
    options.block_size = test::whole(random, 1, sides + 2);
    options.max_iterations = 30 * n + 50;
  }

  double entry(GlobalIndex i, GlobalIndex j) const { return a(static_cast<int>(i), static_cast<int>(j)); }
  test::RuleSource source() const {
    return {n, [this](GlobalIndex i, GlobalIndex j) { return entry(i, j); }};
  }
  std::string description() const {
    return std::to_string(n) + " rows, " + std::to_string(sides) + " right-hand sides, block size " +
           std::to_string(options.block_size) + (jacobi ? ", jacobi" : "");
  }

  Random random;
  int n;
  int sides;
  SmallMatrix a;
  SmallMatrix f;
  bool jacobi;
  BlockCgOptions options{};
};

template <class T>
DenseBlock<T> right_hand_sides(const RandomSystem& system, BlockSpace<T>& space) {
  return test::make_rhs(space, system.sides,
                        [&](GlobalIndex i, int j) { return system.f(static_cast<int>(i), j); });
}

/// ||x - x*|| <= ||r|| / lambda_min, and no eigenvalue is below 1 / condition.
template <class T>
void expect_cholesky(const RandomSystem& system, test::Problem<T>& problem, const DenseBlock<T>& f,
                     const BlockCgResult<T>& result) {
  test::expect_consistent(problem, f, result, system.options);
  EXPECT_EQ(result.remark, "");
  const std::vector<double> exact = test::dense_solution(
      system.n, [&](GlobalIndex i, GlobalIndex j) { return system.entry(i, j); },
      test::all_rows(problem.space, f));
  const std::vector<double> found = test::all_rows(problem.space, result.solution);
  for (int j = 0; j < system.sides; ++j) {
    double squared = 0.0;
    for (int i = 0; i < system.n; ++i) {
      const std::ptrdiff_t k = std::ptrdiff_t{i} * system.sides + j;
      squared += std::pow(found[static_cast<std::size_t>(k)] - exact[static_cast<std::size_t>(k)], 2);
    }
    const auto side = static_cast<std::size_t>(j);
    const double rounding = 100 * std::numeric_limits<T>::epsilon() * condition * result.rhs_norms[side];
    EXPECT_LE(std::sqrt(squared), condition * (1.01 * result.residual_norms[side] + rounding)) << j;
  }
}

TEST(BlockCgProperty, InDoubleItFindsWhatCholeskyFinds) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    RandomSystem system(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + system.description());
    system.options.tolerance = 1e-10;
    test::RuleSource source = system.source();
    test::Problem<double> problem(source);
    Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
    const DenseBlock<double> f = right_hand_sides(system, problem.space);
    const auto result =
        block_cg<double>(problem.space, problem.matrix, system.jacobi ? &jacobi : nullptr, f, {}, system.options);
    expect_cholesky(system, problem, f, result);
  }
}

TEST(BlockCgProperty, InFloatItFindsWhatCholeskyFinds) {
  for (std::uint64_t seed = 1001; seed <= 1040; ++seed) {
    RandomSystem system(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + system.description());
    system.options.tolerance = 1e-3;
    test::RuleSource source = system.source();
    test::Problem<float> problem(source);
    Jacobi<float> jacobi(problem.context, problem.matrix.diagonal());
    const DenseBlock<float> f = right_hand_sides(system, problem.space);
    const auto result =
        block_cg<float>(problem.space, problem.matrix, system.jacobi ? &jacobi : nullptr, f, {}, system.options);
    expect_cholesky(system, problem, f, result);
  }
}

TEST(BlockCgProperty, WithRoundsInFloatItFindsWhatCholeskyFinds) {
  for (std::uint64_t seed = 2001; seed <= 2040; ++seed) {
    RandomSystem system(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + system.description());
    system.options.tolerance = 1e-10;
    test::RuleSource source = system.source();
    test::Problem<double> problem(source);
    test::Problem<float> rounded(source);
    Jacobi<float> jacobi(rounded.context, problem.matrix.diagonal());
    const DenseBlock<double> f = right_hand_sides(system, problem.space);
    const auto result = block_cg_mixed(problem.space, problem.matrix, nullptr, rounded.matrix,
                                       system.jacobi ? &jacobi : nullptr, f, {}, system.options);
    expect_cholesky(system, problem, f, result);
  }
}

TEST(BlockCgProperty, TheLimitOfIterationsHoldsForEveryBlockInBothPrecisions) {
  for (std::uint64_t seed = 3001; seed <= 3030; ++seed) {
    RandomSystem system(seed);
    system.options.max_iterations = test::whole(system.random, 0, 12);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + system.description());
    test::RuleSource source = system.source();
    test::Problem<double> problem(source);
    test::Problem<float> rounded(source);
    const DenseBlock<double> f = right_hand_sides(system, problem.space);
    const auto plain = block_cg<double>(problem.space, problem.matrix, nullptr, f, {}, system.options);
    const auto mixed =
        block_cg_mixed(problem.space, problem.matrix, nullptr, rounded.matrix, nullptr, f, {}, system.options);
    const int width = std::min(system.options.block_size, system.sides);
    for (const auto* result : {&plain, &mixed}) {
      test::expect_consistent(problem, f, *result, system.options);
      EXPECT_EQ(static_cast<int>(result->history.size()), result->total_iterations);
      EXPECT_LE(result->total_iterations, (system.sides + width - 1) / width * system.options.max_iterations);
      for (const int iterations : result->iterations) EXPECT_LE(iterations, system.options.max_iterations);
    }
  }
}

}  // namespace
}  // namespace block_eigs
