#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "solver/preconditioner/jacobi.hpp"
#include "tests/support/linear_problem.hpp"

// Singular matrices: right-hand sides in their range are solved, others are recognised and named.
namespace block_eigs {
namespace {

using test::Problem;

/// In [-1, 1), without order.
double noise(GlobalIndex i, int j) {
  return 2.0 * static_cast<double>((i + 1) * (j + 3) * 48271 % 65537) / 65537 - 1.0;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

int count(const BlockCgResult<double>& result, Outcome outcome) {
  return static_cast<int>(std::count(result.outcomes.begin(), result.outcomes.end(), outcome));
}

/// Minus the Laplacian of a 20 x 12 grid with zero normal derivatives: the constants are its null space.
double neumann(GlobalIndex i, GlobalIndex j) {
  const auto neighbours = [](GlobalIndex a, GlobalIndex b) {
    return std::abs(a % 20 - b % 20) + std::abs(a / 20 - b / 20) == 1;
  };
  if (i != j) return neighbours(i, j) ? -1.0 : 0.0;
  double degree = 0.0;
  for (const GlobalIndex k : {i - 20, i - 1, i + 1, i + 20}) {
    if (k >= 0 && k < 240 && neighbours(i, k)) degree += 1.0;
  }
  return degree;
}

TEST(BlockCgSingular, ASingularMatrixWithRightHandSidesInItsRangeIsSolved) {
  test::RuleSource source(240, neumann);
  Problem<double> problem(source);
  // Differences of neighbours sum to zero.
  const DenseBlock<double> f =
      test::make_rhs(problem.space, 5, [](GlobalIndex i, int j) { return noise(i, j) - noise((i + 1) % 240, j); });
  const auto result = block_cg<double>(problem.space, problem.matrix, nullptr, f, {}, {});
  test::expect_consistent(problem, f, result, {});
  EXPECT_EQ(count(result, Outcome::converged), 5) << result.remark;
}

TEST(BlockCgSingular, ASingularMatrixWithRightHandSidesOutsideItsRangeIsNamed) {
  test::RuleSource source(240, neumann);
  Problem<double> problem(source);
  Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
  for (LinearOperator<double>* preconditioner :
       {static_cast<LinearOperator<double>*>(nullptr), static_cast<LinearOperator<double>*>(&jacobi)}) {
    for (const double part : {1.0, 1e-3}) {
      const DenseBlock<double> f = test::make_rhs(problem.space, 4, [&](GlobalIndex i, int j) {
        return noise(i, j) - noise((i + 1) % 240, j) + part * (j + 1);
      });
      const auto result = block_cg<double>(problem.space, problem.matrix, preconditioner, f, {}, {});
      test::expect_consistent(problem, f, result, {});
      EXPECT_EQ(count(result, Outcome::not_converged), 4);
      EXPECT_TRUE(contains(result.remark, "singular")) << result.remark;
      for (std::size_t j = 0; j < 4; ++j) {
        EXPECT_LE(result.residual_norms[j], result.rhs_norms[j] * (1 + 1e-12));
      }
    }
  }
}

TEST(BlockCgSingular, RightHandSidesNearlyInTheRangeDoNotDriftAlongANullVector) {
  // What A maps to nothing in them is below the tolerance, so that they may be solved or not; but residuals that
  // rise with an x that grows without bound are no accuracy limit, and there is a better x on the way.
  test::RuleSource source(240, neumann);
  Problem<double> problem(source);
  Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
  for (LinearOperator<double>* preconditioner :
       {static_cast<LinearOperator<double>*>(nullptr), static_cast<LinearOperator<double>*>(&jacobi)}) {
    for (const double part : {1e-9, 4e-9, 9e-9, 9.9e-9}) {
      for (const int sides : {1, 3}) {
        SCOPED_TRACE(std::to_string(part) + ", " + std::to_string(sides) + " right-hand sides");
        const DenseBlock<double> inside = test::make_rhs(
            problem.space, sides, [](GlobalIndex i, int j) { return noise(i, j) - noise((i + 1) % 240, j); });
        const std::vector<double> norms = problem.space.column_norms(inside.view());
        const DenseBlock<double> f = test::make_rhs(problem.space, sides, [&](GlobalIndex i, int j) {
          const double along = part * norms[static_cast<std::size_t>(j)] / std::sqrt(240.0);
          return noise(i, j) - noise((i + 1) % 240, j) + along;
        });
        const auto result = block_cg<double>(problem.space, problem.matrix, preconditioner, f, {}, {});
        test::expect_consistent(problem, f, result, {});
        EXPECT_EQ(count(result, Outcome::at_accuracy_limit), 0) << result.remark;
        const std::vector<double> lengths = problem.space.column_norms(result.solution.view());
        for (std::size_t j = 0; j < result.outcomes.size(); ++j) {
          EXPECT_LE(result.residual_norms[j], 1e-7 * result.rhs_norms[j]);
          EXPECT_LE(lengths[j], 1e3 * result.rhs_norms[j]);
        }
      }
    }
  }
}

/// How many of `sides` right-hand sides, of which that at place `outside` is not in the range, are solved: of a
/// chain of n points with springs over so many decades.
int solved_in_a_chain(GlobalIndex n, double decades, int sides, int outside) {
  const auto spring = [=](GlobalIndex i) {
    return i < 0 || i + 1 >= n ? 0.0 : std::pow(10.0, 0.5 * decades * (noise(i, static_cast<int>(n)) - 1.0));
  };
  test::RuleSource source(n, [&](GlobalIndex i, GlobalIndex j) {
    if (i == j) return spring(i - 1) + spring(i);
    return std::abs(i - j) == 1 ? -spring(std::min(i, j)) : 0.0;
  });
  Problem<double> problem(source);
  const DenseBlock<double> f = test::make_rhs(problem.space, sides, [&](GlobalIndex i, int j) {
    const int of = j == outside ? sides : j - (j > outside ? 1 : 0);
    const auto force = [&](GlobalIndex k) { return spring(k) * (noise(k + 1, of) - noise(k, of)); };
    return force(i - 1) - force(i) + (j == outside ? 1.0 : 0.0);
  });
  BlockCgOptions options;
  options.tolerance = 1e-10;
  const auto result = block_cg<double>(problem.space, problem.matrix, nullptr, f, {}, options);
  test::expect_consistent(problem, f, result, options);
  return sides - count(result, Outcome::not_converged);
}

TEST(BlockCgSingular, TheOrderOfRightHandSidesDoesNotDecideWhichAreSolved) {
  int first = 0, last = 0;
  for (const double decades : {1.0, 2.0, 3.0, 4.0}) {
    for (GlobalIndex n = 12; n < 102; ++n) {
      first += solved_in_a_chain(n, decades, 6, 0);
      last += solved_in_a_chain(n, decades, 6, 5);
    }
  }
  // Of 1,800 that have a solution. Which of the rest have iterations used up is a matter of rounding, some 20 of
  // 450 either way: 1,676 to 1,700 on 1 to 3 ranks, 35 to 56 less than last; 1,591 to 1,614 and 121 to 141 less
  // where one without a solution ends the search.
  EXPECT_GE(first, last - 90);
  EXPECT_GE(first, 1650);
}

TEST(BlockCgSingular, RightHandSidesInTheRangeAreSolvedBesideOthersThatAreNot) {
  test::RuleSource source(240, neumann);
  Problem<double> problem(source);
  const DenseBlock<double> f = test::make_rhs(problem.space, 6, [](GlobalIndex i, int j) {
    return noise(i, j) - noise((i + 1) % 240, j) + (j == 4 ? 1.0 : 0.0);
  });
  const auto result = block_cg<double>(problem.space, problem.matrix, nullptr, f, {}, {});
  test::expect_consistent(problem, f, result, {});
  EXPECT_EQ(count(result, Outcome::converged), 5) << result.remark;
  EXPECT_EQ(result.outcomes[4], Outcome::not_converged);
}

TEST(BlockCgSingular, DependentOnesInTheRangeAreSolvedBesideANullVector) {
  // The null vector is found before the first iteration, with the residual block already brought to fewer columns.
  test::RuleSource source(
      60, [](GlobalIndex i, GlobalIndex j) { return i != j || i == 0 ? 0.0 : 1.0 + static_cast<double>(i % 7); });
  Problem<double> problem(source);
  const DenseBlock<double> f = test::make_rhs(problem.space, 5, [](GlobalIndex i, int j) {
    if (j == 2) return i == 0 ? 1.0 : 0.0;
    return i == 0 ? 0.0 : noise(i, j % 2);
  });
  const auto result = block_cg<double>(problem.space, problem.matrix, nullptr, f, {}, {});
  test::expect_consistent(problem, f, result, {});
  EXPECT_EQ(count(result, Outcome::converged), 4) << result.remark;
  EXPECT_EQ(result.outcomes[2], Outcome::not_converged);
}

/// A plate of 12 x 12 points whose edge is held, and two rows without entries.
double plate_and_empty_rows(GlobalIndex i, GlobalIndex j) {
  if (i >= 144 || j >= 144) return 0.0;
  return i == j ? 4.0 : std::abs(i % 12 - j % 12) + std::abs(i / 12 - j / 12) == 1 ? -1.0 : 0.0;
}

TEST(BlockCgSingular, RowsWithoutEntriesAreNamed) {
  test::RuleSource source(146, plate_and_empty_rows);
  Problem<double> problem(source);
  Jacobi<double> jacobi(problem.context, problem.matrix.jacobi_diagonal());
  for (LinearOperator<double>* preconditioner :
       {static_cast<LinearOperator<double>*>(nullptr), static_cast<LinearOperator<double>*>(&jacobi)}) {
    for (const int sides : {1, 2, 4, 16}) {
      SCOPED_TRACE(std::to_string(sides) + " right-hand sides");
      const DenseBlock<double> f = test::random_rhs(problem.space, sides);
      const auto result = block_cg<double>(problem.space, problem.matrix, preconditioner, f, {}, {});
      test::expect_consistent(problem, f, result, {});
      EXPECT_EQ(count(result, Outcome::not_converged), sides);
      EXPECT_TRUE(contains(result.remark, preconditioner != nullptr ? "singular" : "||A|| ||x|| ="))
          << result.remark;
      EXPECT_LT(result.total_iterations, 200);
      for (std::size_t j = 0; j < result.outcomes.size(); ++j) {
        EXPECT_LE(result.residual_norms[j], result.rhs_norms[j] * (1 + 1e-12));
      }
    }
    // Nothing in these rows: as any other system.
    const DenseBlock<double> f =
        test::make_rhs(problem.space, 4, [](GlobalIndex i, int j) { return i < 144 ? noise(i, j) : 0.0; });
    const auto result = block_cg<double>(problem.space, problem.matrix, preconditioner, f, {}, {});
    test::expect_consistent(problem, f, result, {});
    EXPECT_EQ(count(result, Outcome::converged), 4) << result.remark;
  }
}

TEST(BlockCgSingular, ASolutionThatIsTooLargeForTheArithmeticIsNamed) {
  // Hilbert's matrix of 60 rows: its condition number is far beyond 1 / epsilon.
  test::RuleSource source(60, [](GlobalIndex i, GlobalIndex j) { return 1.0 / static_cast<double>(1 + i + j); });
  Problem<double> problem(source);
  Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
  for (const int sides : {1, 4}) {
    const DenseBlock<double> f = test::random_rhs(problem.space, sides);
    const auto result = block_cg<double>(problem.space, problem.matrix, &jacobi, f, {}, {});
    test::expect_consistent(problem, f, result, {});
    EXPECT_EQ(count(result, Outcome::not_converged), sides);
    EXPECT_TRUE(result.findings.end == BlockCgEnd::too_large || result.findings.end == BlockCgEnd::singular_matrix)
        << result.remark;
    for (std::size_t j = 0; j < result.outcomes.size(); ++j) {
      EXPECT_LE(result.residual_norms[j], result.rhs_norms[j] * (1 + 1e-12));
    }
  }
}

TEST(BlockCgSingular, TheZeroMatrixSolvesNothing) {
  test::RuleSource source(30, [](GlobalIndex, GlobalIndex) { return 0.0; });
  Problem<double> problem(source);
  const DenseBlock<double> f = test::random_rhs(problem.space, 3);
  const auto result = block_cg<double>(problem.space, problem.matrix, nullptr, f, {}, {});
  test::expect_consistent(problem, f, result, {});
  EXPECT_EQ(count(result, Outcome::not_converged), 3);
  EXPECT_TRUE(contains(result.remark, "singular")) << result.remark;
}

/// An operator that does not know its norm.
class WithoutNorm final : public LinearOperator<double> {
 public:
  explicit WithoutNorm(LinearOperator<double>& inner) : inner_(inner) {}
  LocalIndex rows() const override { return inner_.rows(); }
  LocalIndex columns() const override { return inner_.columns(); }
  void apply(ConstBlockView<double> x, BlockView<double> y) override { inner_.apply(x, y); }

 private:
  LinearOperator<double>& inner_;
};

TEST(BlockCgSingular, ASingularOperatorOfUnknownNormIsNamed) {
  test::RuleSource source(240, neumann);
  Problem<double> problem(source);
  WithoutNorm a(problem.matrix);
  for (const double part : {0.0, 1.0}) {
    const DenseBlock<double> f = test::make_rhs(problem.space, 4, [&](GlobalIndex i, int j) {
      return noise(i, j) - noise((i + 1) % 240, j) + part * (j + 1);
    });
    const auto result = block_cg<double>(problem.space, a, nullptr, f, {}, {});
    test::expect_consistent(problem, f, result, {});
    EXPECT_EQ(count(result, Outcome::converged), part > 0.0 ? 0 : 4) << result.remark;
    EXPECT_EQ(contains(result.remark, "singular"), part > 0.0) << result.remark;
  }
}

}  // namespace
}  // namespace block_eigs
