#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "solver/block_cg/bcgrq.hpp"
#include "solver/preconditioner/jacobi.hpp"
#include "tests/support/linear_problem.hpp"

// Conjugate gradients whose solution is brought up to date a part of the rows at a time come to the same as those
// that add every step at once. Where that pays by itself is GpuSolvers' test.
namespace block_eigs {
namespace {

using test::Problem;

struct Outcomes {
  DenseBlock<double> x;
  std::vector<bcgrq::Column> columns;
  bool singular = false;
};

Outcomes solve(Problem<double>& problem, LinearOperator<double>* preconditioner, const DenseBlock<double>& f,
               int max_iterations, bool deferred) {
  constexpr double tolerance = 1e-9;
  bcgrq::State<double> state(problem.space, problem.matrix, preconditioner, tolerance, f.cols());
  if (deferred) state.deferred = bcgrq::DeferredSolution<double>(problem.space, f.cols());
  Outcomes result;
  result.x = problem.space.make_block(f.cols());
  problem.space.kernels().fill(result.x.view(), 0.0);
  bcgrq::Sides<double> sides;
  sides.f = f.view();
  sides.x = result.x.view();
  sides.starts_at_zero = true;
  for (const double norm : problem.space.column_norms(f.view())) {
    bcgrq::Column column;
    column.rhs_norm = norm;
    sides.columns.push_back(column);
  }
  Budget budget(max_iterations);
  bcgrq::solve(state, sides, budget, [](LocalIndex) { return true; });
  result.columns = sides.columns;
  result.singular = sides.findings.singular_matrix;
  return result;
}

/// Both ways alike, residuals true.
void expect_alike(Problem<double>& problem, LinearOperator<double>* preconditioner, const DenseBlock<double>& f,
                  int max_iterations, std::optional<Outcome> outcome) {
  const Outcomes at_once = solve(problem, preconditioner, f, max_iterations, false);
  const Outcomes later = solve(problem, preconditioner, f, max_iterations, true);
  const std::vector<double> norms = test::true_norms(problem, f, later.x);
  EXPECT_EQ(later.singular, at_once.singular);
  for (std::size_t j = 0; j < norms.size(); ++j) {
    const bcgrq::Column& column = later.columns[j];
    if (outcome) {
      EXPECT_EQ(column.outcome, *outcome) << j;
    }
    EXPECT_EQ(column.outcome, at_once.columns[j].outcome) << j;
    EXPECT_NEAR(column.iterations, at_once.columns[j].iterations, 3) << j;
    EXPECT_NEAR(norms[j], column.true_norm, 1e-11 * column.rhs_norm + 1e-6 * norms[j]) << j;
  }
}

/// A path whose ends are held, rows and columns scaled unevenly.
double uneven(GlobalIndex i, GlobalIndex j) {
  const auto size = [](GlobalIndex k) { return std::pow(10.0, static_cast<double>(k % 5) / 4.0); };
  return size(i) * (i == j ? 2.001 : std::abs(i - j) == 1 ? -1.0 : 0.0) * size(j);
}

/// A ring of 90 points, which maps the constants to nothing.
double ring(GlobalIndex i, GlobalIndex j) {
  const GlobalIndex apart = std::abs(i - j);
  return i == j ? 2.0 : apart == 1 || apart == 89 ? -1.0 : 0.0;
}

TEST(BlockCgDeferred, ComesToTheSame) {
  test::RuleSource source(400, uneven);
  Problem<double> problem(source);
  Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
  DenseBlock<double> f = test::random_rhs(problem.space, 6);
  // Sides that are alike, and one that is none: directions drop out at the start.
  problem.space.copy(std::as_const(f).view().columns(0, 1), f.columns(4, 1));
  problem.space.kernels().fill(f.columns(5, 1), 0.0);
  for (LinearOperator<double>* const preconditioner :
       {static_cast<LinearOperator<double>*>(nullptr), static_cast<LinearOperator<double>*>(&jacobi)})
    expect_alike(problem, preconditioner, f, 2000, Outcome::converged);
}

TEST(BlockCgDeferred, IsWholeWhereIterationsEnd) {
  test::RuleSource source(400, uneven);
  Problem<double> problem(source);
  const DenseBlock<double> f = test::random_rhs(problem.space, 3);
  for (const int iterations : {0, 1, 2, 5, 6, 7, 17}) expect_alike(problem, nullptr, f, iterations, {});
}

TEST(BlockCgDeferred, SeesASingularMatrix) {
  test::RuleSource source(90, ring);
  Problem<double> problem(source);
  const DenseBlock<double> f = test::random_rhs(problem.space, 3);
  expect_alike(problem, nullptr, f, 500, Outcome::not_converged);
}

}  // namespace
}  // namespace block_eigs
