#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "solver/block_cg/block_cg_mixed.hpp"
#include "solver/preconditioner/cast_operator.hpp"
#include "solver/preconditioner/chebyshev.hpp"
#include "solver/preconditioner/jacobi.hpp"
#include "tests/support/linear_problem.hpp"
#include "tests/support/random_problem.hpp"

// Systems and right-hand sides of any scale: what is solvable is solved, and a bad scaling is no singular matrix.
namespace block_eigs {
namespace {

using test::Problem;

constexpr int n = 160;

/// In [-1, 1), without order.
double noise(GlobalIndex i, int j) {
  return 2.0 * static_cast<double>((i + 1) * (j + 3) * 48271 % 65537) / 65537 - 1.0;
}

/// Of a 16 x 10 grid, with a little on the diagonal: condition number about 80.
double grid(GlobalIndex i, GlobalIndex j) {
  if (i == j) return 4.1;
  const auto apart = std::abs(i % 16 - j % 16) + std::abs(i / 16 - j / 16);
  return apart == 1 ? -1.0 : 0.0;
}

/// Minus the Laplacian of the grid with zero normal derivatives: the constants are its null space.
double neumann(GlobalIndex i, GlobalIndex j) {
  if (i != j) return grid(i, j);
  return 4.0 - (i % 16 == 0) - (i % 16 == 15) - (i / 16 == 0) - (i / 16 == 9);
}

/// Powers of ten over so many decades, without order.
double scale(GlobalIndex i, double decades) { return std::pow(10.0, 0.5 * decades * noise(i, 11)); }

test::RuleSource scaled(double (*entry)(GlobalIndex, GlobalIndex), double decades) {
  return {n, [=](GlobalIndex i, GlobalIndex j) {
            const double value = entry(i, j);
            return value == 0.0 ? 0.0 : scale(i, decades) * value * scale(j, decades);
          }};
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

template <class T>
void expect_done(const BlockCgResult<T>& result) {
  for (const Outcome outcome : result.outcomes) EXPECT_NE(outcome, Outcome::not_converged) << result.remark;
  EXPECT_EQ(result.remark, "");
}

template <class T>
void expect_all(const BlockCgResult<T>& result, Outcome expected) {
  for (const Outcome outcome : result.outcomes) EXPECT_EQ(outcome, expected) << result.remark;
}

// It is handed vectors of the recurrence, whose size has nothing to do with that of the right-hand sides.
TEST(BlockCgScaled, PreconditionersInFloatDoNotSeeTheSizeOfRightHandSides) {
  test::RuleSource source(n, grid);
  Problem<double> problem(source);
  DistributedMatrix<float> in_float(with_precision<float>(problem.context), source.read(problem.partition),
                                    problem.partition, problem.partition);
  Chebyshev<float> polynomial(with_precision<float>(problem.context), in_float, in_float.jacobi_diagonal(),
                              in_float.jacobi_bound(), {.degree = 4});
  CastOperator preconditioner(problem.context, polynomial);
  int iterations = 0;
  for (const int exponent : {0, 60, 140, 500, -60, -200, -500}) {
    SCOPED_TRACE("right-hand sides of 2^" + std::to_string(exponent));
    const DenseBlock<double> f =
        test::make_rhs(problem.space, 3, [=](GlobalIndex i, int j) { return std::ldexp(noise(i, j), exponent); });
    const auto result = block_cg<double>(problem.space, problem.matrix, &preconditioner, f, {}, {});
    expect_done(result);
    if (exponent == 0) iterations = result.total_iterations;
    EXPECT_GT(result.total_iterations, 2);
    EXPECT_LE(std::abs(result.total_iterations - iterations), 1);
  }
}

TEST(BlockCgScaled, RowsAndColumnsOfVeryDifferentSizeAreNotTakenForASingularMatrix) {
  for (const double decades : {4.0, 10.0, 15.0, 20.0}) {
    for (const int sides : {1, 6}) {
      SCOPED_TRACE(std::to_string(decades) + " decades, " + std::to_string(sides) + " right-hand sides");
      auto source = scaled(grid, decades);
      Problem<double> problem(source);
      Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
      const DenseBlock<double> f = test::make_rhs(
          problem.space, sides, [=](GlobalIndex i, int j) { return scale(i, decades) * noise(i, j); });
      const auto result = block_cg<double>(problem.space, problem.matrix, &jacobi, f, {}, {});
      test::expect_consistent(problem, f, result, {});
      expect_all(result, Outcome::converged);
      EXPECT_LT(result.total_iterations, 120);
    }
  }
}

TEST(BlockCgScaled, RightHandSidesThatDoNotFollowTheScalingAreSolvedAsFarAsTheArithmeticAllows) {
  for (const double decades : {4.0, 8.0, 12.0}) {
    SCOPED_TRACE(decades);
    auto source = scaled(grid, decades);
    Problem<double> problem(source);
    Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
    const DenseBlock<double> f = test::make_rhs(problem.space, 5, noise);
    const auto result = block_cg<double>(problem.space, problem.matrix, &jacobi, f, {}, {});
    expect_done(result);
    for (std::size_t j = 0; j < 5; ++j) {
      // Rounding errors of |A| |x| = D |G| |y|, where y = G^-1 D^-1 f.
      EXPECT_LE(result.residual_norms[j], (1e-8 + 1e-15 * std::pow(10.0, decades)) * result.rhs_norms[j]);
    }
  }
}

TEST(BlockCgScaled, RoundsInFloatDoNoHarmWhereFloatHasNotTheRange) {
  for (const double decades : {10.0, 20.0, 40.0}) {
    SCOPED_TRACE(decades);
    auto source = scaled(grid, decades);
    Problem<double> problem(source);
    Problem<float> rounded(source);
    Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
    Jacobi<float> inner(rounded.context, problem.matrix.diagonal());
    const DenseBlock<double> f =
        test::make_rhs(problem.space, 4, [=](GlobalIndex i, int j) { return scale(i, decades) * noise(i, j); });
    const auto result = block_cg_mixed(problem.space, problem.matrix, &jacobi, rounded.matrix, &inner, f, {}, {});
    test::expect_consistent(problem, f, result, {});
    expect_all(result, Outcome::converged);
  }
}

TEST(BlockCgScaled, AnIndefiniteMatrixIsNamedWhateverItsScaling) {
  for (const double decades : {0.0, 10.0, 20.0}) {
    SCOPED_TRACE(decades);
    auto source = scaled([](GlobalIndex i, GlobalIndex j) { return grid(i, j) - (i == j ? 2.5 : 0.0); }, decades);
    Problem<double> problem(source);
    Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
    const DenseBlock<double> f =
        test::make_rhs(problem.space, 3, [=](GlobalIndex i, int j) { return scale(i, decades) * noise(i, j); });
    const auto result = block_cg<double>(problem.space, problem.matrix, &jacobi, f, {}, {});
    test::expect_consistent(problem, f, result, {});
    expect_all(result, Outcome::not_converged);
    EXPECT_TRUE(contains(result.remark, "A is not positive definite")) << result.remark;
    EXPECT_TRUE(result.findings.indefinite_matrix);
    EXPECT_EQ(result.findings.end, BlockCgEnd::indefinite_matrix);
  }
}

TEST(BlockCgScaled, ASingularMatrixIsSolvedOrNamedWhateverItsScaling) {
  for (const double decades : {0.0, 6.0, 12.0}) {
    for (const double part : {0.0, 1.0}) {
      SCOPED_TRACE(std::to_string(decades) + " decades, " + std::to_string(part) + " out of the range");
      auto source = scaled(neumann, decades);
      Problem<double> problem(source);
      Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
      // The null vector is D^-1 1; differences of neighbours have no part of it.
      const DenseBlock<double> f = test::make_rhs(problem.space, 3, [=](GlobalIndex i, int j) {
        return scale(i, decades) * (noise(i, j) - noise((i + 1) % n, j) + part);
      });
      const auto result = block_cg<double>(problem.space, problem.matrix, &jacobi, f, {}, {});
      test::expect_consistent(problem, f, result, {});
      if (part == 0.0) {
        expect_all(result, Outcome::converged);
      } else if (decades == 0.0) {
        expect_all(result, Outcome::not_converged);
        EXPECT_TRUE(contains(result.remark, "singular")) << result.remark;
        EXPECT_TRUE(result.findings.singular_matrix);
      }
    }
  }
}

TEST(BlockCgScaled, SingularSystemsAreSolvedNearlyToTheLimitOfAccuracy) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    test::Random random(seed);
    test::RuleSource source(n, neumann);
    Problem<double> problem(source);
    Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
    const int sides = test::whole(random, 1, 16);
    const SmallMatrix g = test::random_sides(random, n, sides);
    const DenseBlock<double> f = test::make_rhs(problem.space, sides, [&](GlobalIndex i, int j) {
      double sum = 0.0;
      for (const GlobalIndex k : {i - 16, i - 1, i, i + 1, i + 16}) {
        if (k >= 0 && k < n) sum += neumann(i, k) * g(static_cast<int>(k), j);
      }
      return sum;
    });
    for (LinearOperator<double>* preconditioner :
         {static_cast<LinearOperator<double>*>(nullptr), static_cast<LinearOperator<double>*>(&jacobi)}) {
      const BlockCgOptions near{.tolerance = 1e-12, .max_iterations = 2000};
      const auto result = block_cg<double>(problem.space, problem.matrix, preconditioner, f, {}, near);
      test::expect_consistent(problem, f, result, near);
      expect_done(result);
    }
  }
}

template <class T>
void expect_scaled_solution(double factor, double a_factor, double tolerance) {
  SCOPED_TRACE("f times " + std::to_string(std::log10(factor)) + ", A times " +
               std::to_string(std::log10(a_factor)) + " (decades)");
  test::RuleSource source(n, [=](GlobalIndex i, GlobalIndex j) { return a_factor * grid(i, j); });
  Problem<T> problem(source);
  Jacobi<T> jacobi(problem.context, problem.matrix.diagonal());
  const auto rule = [](GlobalIndex i, int j) { return j == 2 ? 0.0 : noise(i, j); };
  const BlockCgOptions options{.tolerance = tolerance, .block_size = 3};
  test::RuleSource plain_source(n, grid);
  Problem<T> plain(plain_source);
  const DenseBlock<T> plain_f = test::make_rhs(plain.space, 5, rule);
  const auto expected = block_cg<T>(plain.space, plain.matrix, nullptr, plain_f, {}, options);
  for (LinearOperator<T>* preconditioner :
       {static_cast<LinearOperator<T>*>(nullptr), static_cast<LinearOperator<T>*>(&jacobi)}) {
    const DenseBlock<T> f =
        test::make_rhs(problem.space, 5, [&](GlobalIndex i, int j) { return factor * rule(i, j); });
    const auto result = block_cg<T>(problem.space, problem.matrix, preconditioner, f, {}, options);
    expect_all(result, Outcome::converged);
    EXPECT_EQ(result.remark, "");
    const std::vector<double> x = test::all_rows(problem.space, result.solution);
    const std::vector<double> y = test::all_rows(plain.space, expected.solution);
    for (std::size_t k = 0; k < x.size(); ++k) {
      EXPECT_NEAR(x[k] / factor * a_factor, y[k], 1e3 * tolerance) << k;
    }
    for (std::size_t j = 0; j < 5; ++j) {
      EXPECT_NEAR(result.rhs_norms[j], factor * expected.rhs_norms[j], 1e-6 * result.rhs_norms[j]);
      EXPECT_LE(result.residual_norms[j], tolerance * result.rhs_norms[j]);
      EXPECT_TRUE(std::isfinite(result.recursive_residual_norms[j]));
    }
    ASSERT_FALSE(result.history.empty());
    EXPECT_LE(result.history.back().residual_norms[0], tolerance * result.rhs_norms[0]);
  }
}

TEST(BlockCgScaled, RightHandSidesWhoseSquaresLeaveTheRangeOfDouble) {
  for (const double factor : {1e-300, 1e-170, 1e-161, 1e-120, 1e120, 1e155, 1e200, 1e300}) {
    expect_scaled_solution<double>(factor, 1.0, 1e-8);
  }
}

TEST(BlockCgScaled, RightHandSidesWhoseSquaresLeaveTheRangeOfFloat) {
  for (const double factor : {1e-30, 1e-22, 1e-15, 1e18, 1e22, 1e30}) {
    expect_scaled_solution<float>(factor, 1.0, 1e-4);
  }
}

TEST(BlockCgScaled, MatricesWhoseSquaresLeaveTheRangeOfDouble) {
  for (const double factor : {1e-200, 1e-160, 1e15, 1e160, 1e200}) {
    expect_scaled_solution<double>(1.0, factor, 1e-8);
  }
}

TEST(BlockCgScaled, RoundsInFloatSolveRightHandSidesOfAnySize) {
  test::RuleSource source(n, grid);
  Problem<double> problem(source);
  Problem<float> rounded(source);
  const DenseBlock<double> f = test::make_rhs(problem.space, 6, [](GlobalIndex i, int j) {
    return std::pow(10.0, 100 * (j - 2) - (j == 5 ? 5 : 0)) * noise(i, j);
  });
  const auto result = block_cg_mixed(problem.space, problem.matrix, nullptr, rounded.matrix, nullptr, f, {}, {});
  expect_all(result, Outcome::converged);
  EXPECT_EQ(result.remark, "");
  for (std::size_t j = 0; j < 6; ++j) EXPECT_LE(result.residual_norms[j], 1e-8 * result.rhs_norms[j]);
}

TEST(BlockCgScaled, AnInitialGuessFollowsTheScaling) {
  test::RuleSource source(n, grid);
  Problem<double> problem(source);
  const DenseBlock<double> f =
      test::make_rhs(problem.space, 3, [](GlobalIndex i, int j) { return 1e-200 * noise(i, j); });
  auto first = block_cg<double>(problem.space, problem.matrix, nullptr, f, {}, {.tolerance = 1e-4});
  expect_all(first, Outcome::converged);
  const auto again =
      block_cg<double>(problem.space, problem.matrix, nullptr, f, std::move(first.solution), {.tolerance = 1e-4});
  EXPECT_EQ(again.total_iterations, 0);
  expect_all(again, Outcome::converged);
}

TEST(BlockCgScaled, AnInitialGuessBeyondTheRangeIsGivenUpForZero) {
  test::RuleSource source(20, [](GlobalIndex i, GlobalIndex j) { return i == j ? 1e200 : 0.0; });
  Problem<double> problem(source);
  const DenseBlock<double> f = test::make_rhs(problem.space, 2, noise);
  const auto result =
      block_cg<double>(problem.space, problem.matrix, nullptr, f,
                       test::make_rhs(problem.space, 2, [](GlobalIndex, int) { return 1e150; }), {});
  expect_all(result, Outcome::converged);
}

TEST(BlockCgScaled, ATinyDiagonalEntryOfARowThatStandsAloneIsNoNullVector) {
  test::RuleSource source(n, [](GlobalIndex i, GlobalIndex j) {
    if (i == 7 || j == 7) return i == j ? 5e-24 : 0.0;
    return grid(i, j);
  });
  Problem<double> problem(source);
  Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
  const DenseBlock<double> f = test::make_rhs(problem.space, 4, noise);
  const auto result = block_cg<double>(problem.space, problem.matrix, &jacobi, f, {}, {});
  test::expect_consistent(problem, f, result, {});
  expect_all(result, Outcome::converged);
}

TEST(BlockCgScaled, AFewRowsOfAnyScalingAndMoreRightHandSidesThanRows) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    test::Random random(seed);
    const int rows = 1 + static_cast<int>(seed % 5);
    const int sides = test::whole(random, 1, 9);
    const double decades = test::whole(random, 0, 16);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + std::to_string(rows) + " rows, " + std::to_string(sides) +
                 " right-hand sides, " + std::to_string(decades) + " decades");
    const SmallMatrix a = test::random_spd(random, rows, 1e3);
    std::vector<double> d;
    for (int i = 0; i < rows; ++i) d.push_back(std::pow(10.0, test::uniform(random, -0.5, 0.5) * decades));
    const auto at = [](GlobalIndex i) { return static_cast<std::size_t>(i); };
    test::RuleSource source(rows, [&](GlobalIndex i, GlobalIndex j) {
      return d[at(i)] * 0.5 *
             (a(static_cast<int>(i), static_cast<int>(j)) + a(static_cast<int>(j), static_cast<int>(i))) *
             d[at(j)];
    });
    Problem<double> problem(source);
    Problem<float> rounded(source);
    Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
    Jacobi<float> inner(rounded.context, problem.matrix.diagonal());
    const SmallMatrix g = test::random_sides(random, rows, sides);
    const DenseBlock<double> f = test::make_rhs(
        problem.space, sides, [&](GlobalIndex i, int j) { return d[at(i)] * g(static_cast<int>(i), j); });
    const auto result = block_cg<double>(problem.space, problem.matrix, &jacobi, f, {}, {});
    test::expect_consistent(problem, f, result, {});
    expect_done(result);
    const auto mixed = block_cg_mixed(problem.space, problem.matrix, &jacobi, rounded.matrix, &inner, f, {}, {});
    test::expect_consistent(problem, f, mixed, {});
    expect_done(mixed);
  }
}

}  // namespace
}  // namespace block_eigs
