#include "solver/small/refine_pencil.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "solver/small/lapack.hpp"
#include "tests/support/random_problem.hpp"

// Eigenvectors of pencils whose B is badly conditioned.
namespace block_eigs {
namespace {

constexpr int n = 60;
constexpr int count = 8;
constexpr int any_number = 1000;

/// Largest ||A x - theta B x|| / ((||A|| + |theta| ||B||) ||x||), norms of the largest entry's kind.
double worst_residual(const SmallMatrix& a, const SmallMatrix& b, const SmallMatrix& vectors) {
  double worst = 0.0;
  const SmallMatrix ax = lapack::product(a, false, vectors, false);
  const SmallMatrix bx = lapack::product(b, false, vectors, false);
  const auto norm = [](const SmallMatrix& matrix) {
    double most = 0.0;
    for (const double value : matrix.values()) most = std::max(most, std::abs(value));
    return n * most;
  };
  for (int j = 0; j < vectors.cols(); ++j) {
    double energy = 0.0, mass = 0.0, squared = 0.0, length = 0.0;
    for (int i = 0; i < n; ++i) {
      energy += vectors(i, j) * ax(i, j);
      mass += vectors(i, j) * bx(i, j);
      length += vectors(i, j) * vectors(i, j);
    }
    const double theta = energy / mass;
    for (int i = 0; i < n; ++i) squared += std::pow(ax(i, j) - theta * bx(i, j), 2);
    worst = std::max(worst, std::sqrt(squared / length) / (norm(a) + std::abs(theta) * norm(b)));
  }
  return worst;
}

/// `worse_before` counts the pencils that the reduction alone does not do.
void refine_and_check(std::uint64_t seed, double condition, int& worse_before) {
  test::Random random(seed);
  const SmallMatrix a = test::random_spd(random, n, condition);
  const SmallMatrix b = test::random_spd(random, n, 1e10);
  SmallMatrix reduced = a;
  SmallMatrix factor = b;
  SmallMatrix vectors;
  lapack::lowest_eigenpairs(reduced, factor, count, vectors);
  if (worst_residual(a, b, vectors) > 1e-14) ++worse_before;
  refine_pencil(a, b, vectors, count, 0.0, any_number);
  EXPECT_LT(worst_residual(a, b, vectors), 1e-15) << seed;
  const SmallMatrix gram = lapack::product(vectors, true, lapack::product(b, false, vectors, false), false);
  for (int j = 0; j < count; ++j) {
    for (int i = 0; i < count; ++i) EXPECT_NEAR(gram(i, j), i == j ? 1.0 : 0.0, 1e-9) << seed;
  }
}

TEST(RefinePencil, ResidualsComeDownToRoundingAndVectorsStayOrthonormal) {
  int worse_before = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) refine_and_check(seed, 1e4, worse_before);
  EXPECT_GT(worse_before, 0) << "the reduction alone would do: this test shows nothing";
}

/// What the reduction leaves of small eigenvalues takes more than two steps.
TEST(RefinePencil, SmallEigenvaluesOfAMatrixThatIsNearlySingular) {
  int worse_before = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) refine_and_check(seed, 1e9, worse_before);
  EXPECT_GT(worse_before, 0);
}

/// Largest ||A x - theta B x|| / (|theta| ||B x||) of all vectors.
double worst_relative_residual(const SmallMatrix& a, const SmallMatrix& b, const SmallMatrix& vectors) {
  const SmallMatrix ax = lapack::product(a, false, vectors, false);
  const SmallMatrix bx = lapack::product(b, false, vectors, false);
  double worst = 0.0;
  for (int j = 0; j < vectors.cols(); ++j) {
    double energy = 0.0, mass = 0.0, squared = 0.0, image = 0.0;
    for (int i = 0; i < n; ++i) {
      energy += vectors(i, j) * ax(i, j);
      mass += vectors(i, j) * bx(i, j);
    }
    const double theta = energy / mass;
    for (int i = 0; i < n; ++i) {
      squared += std::pow(ax(i, j) - theta * bx(i, j), 2);
      image += std::pow(theta * bx(i, j), 2);
    }
    worst = std::max(worst, std::sqrt(squared / image));
  }
  return worst;
}

/// Values over many decades, of which rounding errors of the largest are left out of the smallest, in either
/// order.
TEST(RefinePencil, AllVectorsOfAPencilWhoseMassesDiffer) {
  constexpr double tolerance = 1e-10;
  for (const double sign : {1.0, -1.0}) {
    test::Random random(5);
    SmallMatrix a = test::random_spd(random, n, 10.0);
    for (double& value : a.values()) value *= sign;
    SmallMatrix b(n, n);
    for (int i = 0; i < n; ++i) {
      b(i, i) = std::pow(10.0, (7 * i) % 9 - 4);
    }
    SmallMatrix reduced = a;
    SmallMatrix factor = b;
    SmallMatrix vectors;
    lapack::lowest_eigenpairs(reduced, factor, n, vectors);
    EXPECT_GT(worst_relative_residual(a, b, vectors), 1e2 * tolerance) << "nothing to refine";
    refine_pencil(a, b, vectors, n, tolerance, any_number);
    EXPECT_LT(worst_relative_residual(a, b, vectors), 10.0 * tolerance) << sign;
    const SmallMatrix gram = lapack::product(vectors, true, lapack::product(b, false, vectors, false), false);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) EXPECT_NEAR(gram(i, j), i == j ? 1.0 : 0.0, 1e-12);
    }
  }
}

/// Neither what is as good as asked nor what there is no shift left for is touched.
TEST(RefinePencil, NoMoreThanIsAskedAndPaidFor) {
  test::Random random(3);
  const SmallMatrix a = test::random_spd(random, n, 1e9);
  const SmallMatrix b = test::random_spd(random, n, 1e10);
  SmallMatrix reduced = a;
  SmallMatrix factor = b;
  SmallMatrix before;
  lapack::lowest_eigenpairs(reduced, factor, count, before);
  SmallMatrix after = before;
  refine_pencil(a, b, after, count, 0.0, 0);
  EXPECT_EQ(worst_residual(a, b, after), worst_residual(a, b, before));
  refine_pencil(a, b, after, count, 1e300, any_number);
  EXPECT_EQ(worst_residual(a, b, after), worst_residual(a, b, before));
  refine_pencil(a, b, after, count, 0.0, any_number);
  EXPECT_LT(worst_residual(a, b, after), 0.1 * worst_residual(a, b, before));
}

}  // namespace
}  // namespace block_eigs
