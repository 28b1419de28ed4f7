#include "solver/block_cg/block_cg_recurrence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/support/dense_block_cg.hpp"
#include "tests/support/random_problem.hpp"

extern "C" void dposv_(const char* part, const int* n, const int* sides, double* a, const int* lda, double* b,
                       const int* ldb, int* info);

// The recurrence of BCGrQ on dense matrices, where everything that it promises can be computed beside it.
namespace block_eigs {
namespace {

using test::DenseSolve;
using test::difference;
using test::largest;
using test::Random;
using test::times;
using test::transposed_times;
using Result = BlockCgRecurrence::Result;

constexpr double epsilon = std::numeric_limits<double>::epsilon();

SmallMatrix cholesky_solution(SmallMatrix a, SmallMatrix f) {
  const int n = a.rows();
  const int sides = f.cols();
  int info = 0;
  dposv_("L", &n, &sides, a.data(), &n, f.data(), &n, &info);
  EXPECT_EQ(info, 0) << "dposv";
  return f;
}

void expect_cholesky(std::uint64_t seed, bool preconditioned) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const int n = test::whole(random, 1, 30);
  const int sides = test::whole(random, 1, 20);
  constexpr double condition = 1e3;
  constexpr double tolerance = 1e-9;
  DenseSolve run{test::random_spd(random, n, condition),
                 preconditioned ? test::random_spd(random, n, 20.0) : SmallMatrix(),
                 test::random_sides(random, n, sides)};
  run.begin(tolerance);
  int before = run.s.cols();
  EXPECT_LE(before, std::min(n, sides));
  for (int k = 0; run.active() && run.s.cols() > 0; ++k) {
    ASSERT_LT(k, 20 * n) << n << " rows, " << sides << " right-hand sides";
    ASSERT_TRUE(run.step());
    EXPECT_LE(run.s.cols(), before);
    before = run.s.cols();
  }
  EXPECT_FALSE(run.active());
  const SmallMatrix residual = run.residual();
  const SmallMatrix error = difference(run.x, cholesky_solution(run.a, run.f));
  for (int j = 0; j < sides; ++j) {
    const double norm = test::column_norm(run.f, j);
    EXPECT_LE(test::column_norm(residual, j), 1.1 * tolerance * norm) << j;
    EXPECT_LE(test::column_norm(error, j), 1.2 * condition * tolerance * norm) << j;
  }
}

TEST(BlockCgRecurrence, SolvesRandomProblemsAsCholeskyDoes) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) expect_cholesky(seed, false);
}

TEST(BlockCgRecurrence, SolvesRandomPreconditionedProblemsAsCholeskyDoes) {
  for (std::uint64_t seed = 101; seed <= 160; ++seed) expect_cholesky(seed, true);
}

TEST(BlockCgRecurrence, HoldsItsInvariantsInEveryIteration) {
  for (const bool preconditioned : {false, true}) {
    SCOPED_TRACE(preconditioned);
    Random random(5);
    constexpr int n = 40;
    DenseSolve run{test::random_spd(random, n, 50.0),
                   preconditioned ? test::random_spd(random, n, 4.0) : SmallMatrix(),
                   test::random_matrix(random, n, 5)};
    run.begin(1e-12);
    for (int k = 0; k < 5; ++k) {
      const SmallMatrix earlier = run.s;
      ASSERT_TRUE(run.step());
      const SmallMatrix residual = run.residual();
      // R = Q C and S^T Q = I
      const SmallMatrix& components = run.recurrence.components();
      EXPECT_LT(largest(difference(transposed_times(run.s, residual), components)), 1e-11);
      EXPECT_LT(largest(transposed_times(run.s, times(run.a, earlier))), 1e-11);
      const SmallMatrix ms = preconditioned ? cholesky_solution(run.inverse, run.s) : run.s;
      const SmallMatrix weights = transposed_times(run.s, ms);
      EXPECT_LT(largest(difference(weights, run.recurrence.weights())), 1e-10 * largest(weights));
      for (int j = 0; j < 5; ++j) {
        const double norm = test::column_norm(residual, j);
        EXPECT_NEAR(run.recurrence.sides()[static_cast<std::size_t>(j)].norm, norm, 1e-11);
        if (!preconditioned) {
          EXPECT_NEAR(test::column_norm(components, j), norm, 1e-11);
        }
      }
    }
  }
}

TEST(BlockCgRecurrence, AStepIsAMinimiserThoughThePreconditionerIsNotQuiteSymmetric) {
  Random random(6);
  constexpr int n = 40;
  for (const double skew : {1e-8, 1e-2}) {
    DenseSolve run{test::random_spd(random, n, 50.0), test::random_spd(random, n, 4.0),
                   test::random_matrix(random, n, 3)};
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < j; ++i) run.inverse(i, j) *= 1.0 + skew;
    }
    run.begin(1e-12);
    for (int k = 0; k < 10; ++k) {
      const SmallMatrix earlier = run.s;
      ASSERT_TRUE(run.step());
      // The error of X is the least in the norm of A along S where S^T (F - A X) = 0.
      EXPECT_LT(largest(transposed_times(earlier, run.residual())), 1e-12) << "iteration " << k;
    }
  }
}

TEST(BlockCgRecurrence, DependentRightHandSidesShareTheirDirections) {
  Random random(7);
  SmallMatrix f = test::random_matrix(random, 20, 6);
  for (int i = 0; i < 20; ++i) {
    f(i, 3) = f(i, 0);
    f(i, 4) = f(i, 1) + f(i, 2);
    f(i, 5) = 0.0;
  }
  DenseSolve run{test::random_spd(random, 20, 100.0), {}, f};
  run.begin(1e-6);
  EXPECT_EQ(run.s.cols(), 3);
  EXPECT_FALSE(run.recurrence.sides()[5].active);
  // Three directions at a time: exact arithmetic is done after seven iterations.
  for (int k = 0; k < 7 && run.active(); ++k) ASSERT_TRUE(run.step());
  EXPECT_FALSE(run.active());
}

TEST(BlockCgRecurrence, OneRightHandSideIsConjugateGradients) {
  Random random(11);
  constexpr int n = 25;
  DenseSolve run{test::random_spd(random, n, 30.0), {}, test::random_matrix(random, n, 1)};
  run.begin(1e-13);
  // Hestenes and Stiefel
  SmallMatrix x(n, 1), r = run.f, p = run.f;
  for (int k = 0; k < 12; ++k) {
    ASSERT_TRUE(run.step());
    const SmallMatrix ap = times(run.a, p);
    const double squared = transposed_times(r, r)(0, 0);
    const double alpha = squared / transposed_times(p, ap)(0, 0);
    for (int i = 0; i < n; ++i) {
      x(i, 0) += alpha * p(i, 0);
      r(i, 0) -= alpha * ap(i, 0);
    }
    const double beta = transposed_times(r, r)(0, 0) / squared;
    for (int i = 0; i < n; ++i) p(i, 0) = r(i, 0) + beta * p(i, 0);
    EXPECT_LT(largest(difference(run.x, x)), 1e-10) << k;
  }
}

TEST(BlockCgRecurrence, ARightHandSideThatIsSetAsideKeepsItsSolution) {
  Random random(13);
  DenseSolve run{test::random_spd(random, 20, 30.0), {}, test::random_matrix(random, 20, 3)};
  run.begin(1e-10);
  ASSERT_TRUE(run.step());
  run.recurrence.set_active({true, false, true});
  const SmallMatrix before = run.x;
  ASSERT_TRUE(run.step());
  for (int i = 0; i < 20; ++i) EXPECT_EQ(run.x(i, 1), before(i, 1));
  EXPECT_NE(run.x(0, 0), before(0, 0));
}

TEST(BlockCgRecurrence, AnIndefiniteMatrixHasNoStep) {
  Random random(17);
  SmallMatrix a = test::random_spd(random, 10, 2.0);
  for (double& value : a.values()) value = -value;
  DenseSolve run{a, {}, test::random_matrix(random, 10, 2)};
  run.begin(1e-10);
  EXPECT_FALSE(run.step());
}

TEST(BlockCgRecurrence, APreconditionerThatIsNotPositiveDefiniteIsSeen) {
  Random random(19);
  // Negative for one combination of both residuals, and for all.
  for (const double coupling : {2.0, -1.0}) {
    BlockCgRecurrence recurrence(epsilon);
    recurrence.restart({{1e-8, 1e-18}, {1e-8, 1e-18}});
    SmallMatrix products(2, 4);
    products(0, 0) = products(1, 1) = coupling > 0.0 ? 1.0 : -1.0;
    products(0, 1) = products(1, 0) = coupling > 0.0 ? coupling : 0.0;
    products(0, 2) = products(1, 3) = 1.0;
    EXPECT_EQ(recurrence.factorise(products), Result::not_positive);
    EXPECT_LT(recurrence.inner_square(), -0.5);
  }
}

TEST(BlockCgRecurrence, ProductsThatAreNotFiniteAreSeen) {
  for (const int column : {0, 2}) {
    BlockCgRecurrence recurrence(epsilon);
    recurrence.restart({{1e-8, 1e-18}, {1e-8, 1e-18}});
    SmallMatrix products(2, 4);
    for (int j = 0; j < 4; ++j) products(j % 2, j) = 1.0;
    products(0, column) = std::numeric_limits<double>::infinity();
    EXPECT_EQ(recurrence.factorise(products), column == 0 ? Result::inverse_not_finite : Result::not_finite);
  }
}

TEST(BlockCgRecurrence, DirectionsThatHoldLittleOfTheInnerProductButMuchOfTheNormStay) {
  // Q' = I, M = diag(1, 1e12): the second row holds a millionth of r^T M^-1 r and all of r^T r.
  BlockCgRecurrence recurrence(epsilon);
  recurrence.restart({{100.0, 1e-16}, {100.0, 1e-16}});
  const double r[2][2] = {{1.0, 0.9}, {1e3, 1.1e3}};
  SmallMatrix products(2, 4);
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      products(i, j) = r[0][i] * r[0][j] + 1e-12 * r[1][i] * r[1][j];
      products(i, 2 + j) = r[0][i] * r[0][j] + r[1][i] * r[1][j];
    }
  }
  ASSERT_EQ(recurrence.factorise(products), Result::orthonormal);
  recurrence.narrow();
  EXPECT_EQ(recurrence.direction_update().cols(), 2);
}

}  // namespace
}  // namespace block_eigs
