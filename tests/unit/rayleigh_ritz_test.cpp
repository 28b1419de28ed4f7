#include "solver/small/rayleigh_ritz.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "solver/small/lapack.hpp"
#include "tests/support/random_problem.hpp"

// solve_ritz with random shapes, against LAPACK's generalized eigensolver and the definitions.
namespace block_eigs {
namespace {

using test::Random;
using test::random_matrix;
using test::random_spd;
using test::whole;

SmallMatrix symmetric(Random& random, int n) {
  SmallMatrix a = random_matrix(random, n, n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < j; ++i) a(i, j) = a(j, i);
  }
  return a;
}

double distance_from_identity(const SmallMatrix& a) {
  double most = 0.0;
  for (int j = 0; j < a.cols(); ++j) {
    for (int i = 0; i < a.rows(); ++i) most = std::max(most, std::abs(a(i, j) - (i == j ? 1.0 : 0.0)));
  }
  return most;
}

SmallMatrix congruence(const SmallMatrix& a, const SmallMatrix& c) {
  return lapack::product(c, true, lapack::product(a, false, c, false), false);
}

/// [X P] orthonormal, W any: a Gram matrix with an identity before W, as the iteration has it.
SmallMatrix gram_of_basis(Random& random, int before, int nw) {
  const int size = before + nw;
  SmallMatrix basis = random_matrix(random, size + 3, size);
  SmallMatrix leading(before, basis.rows());
  for (int i = 0; i < basis.rows(); ++i) {
    for (int j = 0; j < before; ++j) leading(j, i) = basis(i, j);
  }
  leading = lapack::orthonormal_rows(leading);
  for (int i = 0; i < basis.rows(); ++i) {
    for (int j = 0; j < before; ++j) basis(i, j) = leading(j, i);
  }
  return lapack::product(basis, true, basis, false);
}

TEST(SolveRitz, RandomShapesAgainstLapack) {
  for (int seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(static_cast<std::uint64_t>(seed));
    const int nx = whole(random, 1, 12);
    const int np = whole(random, 0, nx);
    const int nw = whole(random, 1, nx);
    const int size = nx + np + nw;
    const int wanted = whole(random, 1, nx);
    const bool largest = seed % 2 == 0;
    const SmallMatrix projected = symmetric(random, size);
    const SmallMatrix gram = gram_of_basis(random, nx + np, nw);
    const RitzSolution found = solve_ritz({projected, gram, nx, wanted, 0.0, largest});
    ASSERT_EQ(found.values.size(), static_cast<std::size_t>(wanted));

    SmallMatrix a = projected;
    if (largest) {
      for (double& value : a.values()) value = -value;
    }
    SmallMatrix b = gram;
    SmallMatrix vectors;
    const std::vector<double> exact = lapack::lowest_eigenpairs(a, b, wanted, vectors);
    const double sign = largest ? -1.0 : 1.0;
    for (int j = 0; j < wanted; ++j)
      EXPECT_NEAR(found.values[static_cast<std::size_t>(j)], sign * exact[static_cast<std::size_t>(j)], 1e-10);

    // [X' P'] is B-orthonormal; X'^T A X' = Lambda, P'^T A P' as said, X'^T A P' = 0.
    EXPECT_EQ(found.coefficients.cols(), wanted + found.p_columns);
    EXPECT_LT(distance_from_identity(congruence(gram, found.coefficients)), 1e-10);
    const SmallMatrix k = congruence(projected, found.coefficients);
    for (int j = 0; j < k.cols(); ++j) {
      for (int i = 0; i < k.rows(); ++i) {
        double expected = 0.0;
        if (i == j && i < wanted) expected = found.values[static_cast<std::size_t>(i)];
        if (i >= wanted && j >= wanted) expected = found.projected_p(i - wanted, j - wanted);
        EXPECT_NEAR(k(i, j), expected, 1e-9) << i << ' ' << j;
      }
    }
  }
}

/// What X' - X X^T B X' spans lies in [X' P']: the next iteration has the directions of Knyazev's P.
TEST(SolveRitz, DirectionsHoldWhereXHasMoved) {
  for (int seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(static_cast<std::uint64_t>(seed));
    const int nx = whole(random, 1, 8);
    const int nw = whole(random, nx, 9);
    const int size = nx + nw;
    const SmallMatrix projected = symmetric(random, size);
    const SmallMatrix gram = SmallMatrix::identity(size);
    const RitzSolution found = solve_ritz({projected, gram, nx, nx, 0.0, false});
    SmallMatrix moved(size, nx);  // X' without its part in X
    for (int j = 0; j < nx; ++j) {
      for (int i = nx; i < size; ++i) moved(i, j) = found.coefficients(i, j);
    }
    const SmallMatrix within =
        lapack::product(found.coefficients, false, lapack::product(found.coefficients, true, moved, false), false);
    for (int j = 0; j < nx; ++j) {
      for (int i = 0; i < size; ++i) EXPECT_NEAR(within(i, j), moved(i, j), 1e-10);
    }
  }
}

TEST(SolveRitz, RefusesWhatHasNoCholeskyFactor) {
  Random random(1);
  const SmallMatrix projected = symmetric(random, 3);
  SmallMatrix gram = SmallMatrix::identity(3);
  gram(0, 2) = gram(2, 0) = 1.0;
  EXPECT_TRUE(solve_ritz({projected, gram, 1, 1, 0.0, false}).values.empty());
  gram(0, 2) = gram(2, 0) = 1.0 - 1e-6;
  EXPECT_TRUE(solve_ritz({projected, gram, 1, 1, 1e-3, false}).values.empty());
  EXPECT_FALSE(solve_ritz({projected, gram, 1, 1, 1e-8, false}).values.empty());
  gram(2, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(solve_ritz({projected, gram, 1, 1, 0.0, false}).values.empty());
}

}  // namespace
}  // namespace block_eigs
