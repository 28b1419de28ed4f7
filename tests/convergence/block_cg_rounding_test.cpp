#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "solver/block_cg/block_cg_mixed.hpp"
#include "solver/preconditioner/jacobi.hpp"
#include "tests/support/linear_problem.hpp"

// Rounding errors are not taken for faults of a matrix that is positive definite: it is called singular or
// indefinite only where that is seen of a vector.
namespace block_eigs {
namespace {

using test::Problem;

/// In [0, 1), without order.
double draw(GlobalIndex i, GlobalIndex seed) {
  return static_cast<double>((i * 7919 + seed * 104729 + 1) * 48271 % 65537) / 65537;
}

/// D tridiag(-1, 2.2, -1) D, D = 10^(decades (draw - 1/2)): D covers `decades`, the diagonal twice as many.
test::RuleSource::Rule scaled_tridiagonal(double decades, GlobalIndex seed) {
  return [=](GlobalIndex i, GlobalIndex j) {
    const double entry = i == j ? 2.2 : std::abs(i - j) == 1 ? -1.0 : 0.0;
    return entry * std::pow(10.0, decades * (draw(i, seed) + draw(j, seed) - 1.0));
  };
}

/// tridiag(-1, 2, -1) with a smallest eigenvalue of `left`, and the constants, but for the ends, next to it.
test::RuleSource::Rule nearly_singular(GlobalIndex size, double left) {
  return [=](GlobalIndex i, GlobalIndex j) {
    const bool end = i == 0 || i == size - 1;
    return i == j ? (end ? 1.0 : 2.0) + left : std::abs(i - j) == 1 ? -1.0 : 0.0;
  };
}

template <class T>
void expect_not_called_singular(const BlockCgResult<T>& result) {
  EXPECT_FALSE(result.findings.singular_matrix) << result.remark;
  EXPECT_FALSE(result.findings.indefinite_matrix) << result.remark;
  EXPECT_FALSE(result.findings.indefinite_preconditioner) << result.remark;
  for (const std::string word : {"singular", "definite"})
    EXPECT_EQ(result.remark.find(word), std::string::npos) << result.remark;
}

template <class T>
void expect_scaling_is_no_singularity(double decades) {
  for (GlobalIndex seed = 1; seed <= 6; ++seed) {
    test::RuleSource source(10 + 17 * seed, scaled_tridiagonal(decades, seed));
    Problem<T> problem(source);
    Jacobi<T> jacobi(problem.context, problem.matrix.diagonal());
    for (LinearOperator<T>* preconditioner :
         {static_cast<LinearOperator<T>*>(nullptr), static_cast<LinearOperator<T>*>(&jacobi)}) {
      for (const int sides : {1, 4, 16}) {
        SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << sides << " sides"
                                        << (preconditioner != nullptr ? ", Jacobi" : ""));
        const BlockCgOptions options{1e-3, 150, 16};
        const DenseBlock<T> f = test::random_rhs(problem.space, sides, static_cast<std::uint64_t>(seed));
        const auto result = block_cg<T>(problem.space, problem.matrix, preconditioner, f, {}, options);
        expect_not_called_singular(result);
      }
    }
  }
}

TEST(BlockCgRounding, AScalingOfRowsAndColumnsIsNoSingularityInFloat) {
  for (const double decades : {3.0, 5.0, 8.0}) expect_scaling_is_no_singularity<float>(decades);
}

TEST(BlockCgRounding, AScalingOfRowsAndColumnsIsNoSingularity) {
  for (const double decades : {5.0, 10.0, 15.0}) expect_scaling_is_no_singularity<double>(decades);
}

TEST(BlockCgRounding, AConditionThatFloatHoldsIsNoSingularity) {
  for (const double left : {1e-4, 1e-5}) {
    for (const int sides : {1, 4}) {
      SCOPED_TRACE(testing::Message() << left << ", " << sides << " sides");
      test::RuleSource source(60, nearly_singular(60, left));
      Problem<float> problem(source);
      const DenseBlock<float> f =
          test::make_rhs(problem.space, sides, [](GlobalIndex i, int j) { return 1.0 + 0.1 * draw(i, j); });
      const auto result = block_cg<float>(problem.space, problem.matrix, nullptr, f, {}, {1e-6, 1000, 16});
      expect_not_called_singular(result);
      for (const Outcome outcome : result.outcomes) {
        if (outcome != Outcome::not_converged) continue;
        EXPECT_EQ(result.findings.end, BlockCgEnd::at_rounding);
      }
    }
  }
}

TEST(BlockCgRounding, ASingularMatrixIsStillNamed) {
  test::RuleSource source(60, nearly_singular(60, 0.0));
  const auto rule = [](GlobalIndex i, int j) { return 1.0 + 0.1 * draw(i, j); };
  Problem<float> in_float(source);
  const auto result = block_cg<float>(in_float.space, in_float.matrix, nullptr,
                                      test::make_rhs(in_float.space, 4, rule), {}, {1e-4, 1000, 16});
  EXPECT_TRUE(result.findings.singular_matrix) << result.remark;
  Problem<double> in_double(source);
  const auto exact = block_cg<double>(in_double.space, in_double.matrix, nullptr,
                                      test::make_rhs(in_double.space, 4, rule), {}, {1e-4, 1000, 16});
  EXPECT_TRUE(exact.findings.singular_matrix) << exact.remark;
}

TEST(BlockCgRounding, WhatFloatCannotTellFromSingularIsLeftToDouble) {
  // Iterates grow to 1e7 ||f|| / ||A||: the rounds in float end before they have spent what double needs.
  test::RuleSource source(60, nearly_singular(60, 1e-7));
  Problem<double> problem(source);
  Problem<float> copy(source);
  const DenseBlock<double> f =
      test::make_rhs(problem.space, 1, [](GlobalIndex i, int j) { return 1.0 + 0.1 * draw(i, j); });
  const BlockCgOptions options{1e-7, 400, 16};
  const auto result = block_cg_mixed(problem.space, problem.matrix, nullptr, copy.matrix, nullptr, f, {}, options);
  test::expect_consistent(problem, f, result, options);
  EXPECT_EQ(result.remark, "");
}

/// What is subtracted again of such guesses leaves fewer digits of the solution than are asked for.
TEST(BlockCgRounding, GuessesThatCostTooManyDigitsAreForgotten) {
  test::RuleSource source(500, scaled_tridiagonal(0.0, 1));
  Problem<double> problem(source);
  const auto rule = [](GlobalIndex i, int j) { return draw(i, j) - 0.5; };
  const DenseBlock<double> f = test::make_rhs(problem.space, 3, rule);
  const auto plain = block_cg<double>(problem.space, problem.matrix, nullptr, f, {}, {});
  for (const double size : {1e10, 1e12, 1e17, 1e30, 1e100, 1e200}) {
    SCOPED_TRACE(size);
    DenseBlock<double> guess = test::make_rhs(
        problem.space, 3, [=](GlobalIndex i, int j) { return j == 1 ? 0.0 : size * draw(i, j + 3); });
    const auto result = block_cg<double>(problem.space, problem.matrix, nullptr, f, std::move(guess), {});
    test::expect_consistent(problem, f, result, {});
    for (const Outcome outcome : result.outcomes) EXPECT_EQ(outcome, Outcome::converged);
    if (size > 1e9) {
      EXPECT_LE(result.total_iterations, plain.total_iterations) << "as from zero";
    }
  }
}

}  // namespace
}  // namespace block_eigs
