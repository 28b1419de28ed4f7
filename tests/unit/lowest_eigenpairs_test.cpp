#include "solver/small/lowest_eigenpairs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "solver/small/lapack.hpp"
#include "spmm/error.hpp"
#include "tests/support/random_problem.hpp"

// The smallest eigenvalues of small symmetric matrices with their vectors, against LAPACK, closed forms and the
// definitions: spectra of all kinds, eigenvalues that coincide among them, which are what sweeps may stumble over.
namespace block_eigs {
namespace {

using test::Random;
using test::random_matrix;
using test::whole;

double draw(Random& random) { return test::uniform(random, -1.0, 1.0); }

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// V diag(values) V^T, V random and orthogonal.
SmallMatrix with_spectrum(Random& random, const std::vector<double>& values) {
  const int n = static_cast<int>(values.size());
  const SmallMatrix rows = lapack::orthonormal_rows(random_matrix(random, n, n));
  SmallMatrix scaled = rows;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) scaled(i, j) *= values[static_cast<std::size_t>(i)];
  }
  return lapack::product(rows, true, scaled, false);
}

double largest(const SmallMatrix& matrix) {
  double most = 0.0;
  for (const double value : matrix.values()) most = std::max(most, std::abs(value));
  return most;
}

/// [vectors others]
SmallMatrix whole_basis(const LowestEigenpairs& found) {
  SmallMatrix basis(found.vectors.rows(), found.vectors.cols() + found.others.cols());
  std::copy_n(found.vectors.data(), found.vectors.values().size(), basis.data());
  std::copy_n(found.others.data(), found.others.values().size(), basis.data() + found.vectors.values().size());
  return basis;
}

void expect_lowest(const SmallMatrix& a, int count) {
  const int n = a.rows();
  const LowestEigenpairs found = lowest_eigenpairs(a, count);
  ASSERT_EQ(found.values.size(), static_cast<std::size_t>(count));
  ASSERT_EQ(found.others.cols(), n - count);
  SmallMatrix vectors = a;
  const std::vector<double> exact = lapack::symmetric_eigen(vectors);
  const double size = n > 0 ? std::max(std::abs(exact.front()), std::abs(exact.back())) : 0.0;
  const double rounding = 50.0 * (n + 1) * epsilon;
  for (int j = 0; j < count; ++j) {
    const auto at = static_cast<std::size_t>(j);
    EXPECT_NEAR(found.values[at], exact[at], rounding * size) << j;
    EXPECT_LE(found.values[j > 0 ? at - 1 : at], found.values[at]);
  }
  const SmallMatrix basis = whole_basis(found);
  SmallMatrix gram = lapack::product(basis, true, basis, false);
  for (int j = 0; j < n; ++j) gram(j, j) -= 1.0;
  EXPECT_LE(largest(gram), rounding);
  SmallMatrix projected = lapack::product(basis, true, lapack::product(a, false, basis, false), false);
  for (int j = 0; j < count; ++j) projected(j, j) -= found.values[static_cast<std::size_t>(j)];
  for (int j = count; j < n; ++j) {
    const auto at = static_cast<std::size_t>(j - count);
    projected(j, j) -= found.projected.diagonal[at];
    if (j + 1 == n) continue;
    projected(j, j + 1) -= found.projected.beside[at];
    projected(j + 1, j) -= found.projected.beside[at];
  }
  EXPECT_LE(largest(projected), rounding * size);
}

/// Some spectra that differ by how their values lie.
std::vector<double> spectrum(Random& random, int kind, int n) {
  std::vector<double> values;
  for (int i = 0; i < n; ++i) {
    const int third = i / 3;
    if (kind == 0) values.push_back(draw(random));                               // any
    if (kind == 1) values.push_back(1.0 + third);                                // threefold
    if (kind == 2) values.push_back(std::pow(10.0, -16.0 * i / n));              // over all magnitudes
    if (kind == 3) values.push_back((i > n / 2 ? 5.0 : 0.0) + 1e-14 * (i % 5));  // two clusters
    if (kind == 4) values.push_back(i < n / 2 ? 1.0 : 1e6 * i);                  // one far below the rest
    if (kind == 5) values.push_back(-2.0);                                       // a multiple of the identity
  }
  return values;
}

TEST(LowestEigenpairs, OfSpectraOfAllKinds) {
  for (int seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(static_cast<std::uint64_t>(seed));
    const int n = whole(random, 1, 80);
    SmallMatrix a = with_spectrum(random, spectrum(random, seed % 6, n));
    const double scale = seed % 5 == 0 ? 1e-150 : seed % 5 == 1 ? 1e150 : 1.0;
    for (double& value : a.values()) value *= scale;
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < j; ++i) a(i, j) = a(j, i);
    }
    expect_lowest(a, whole(random, 0, n));
  }
}

// As an iteration poses them: diagonal where Ritz vectors are, which rounding errors alone tie to the rest.
TEST(LowestEigenpairs, OfMatricesThatAreNearlyDiagonalAlready) {
  for (int seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(static_cast<std::uint64_t>(seed));
    const int nx = whole(random, 1, 20);
    const int n = 3 * nx;
    SmallMatrix a(n, n);
    const double coupling = std::pow(10.0, -seed % 18);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < j; ++i)
        a(i, j) = a(j, i) = i >= 2 * nx ? draw(random) : j >= 2 * nx ? coupling * draw(random) : 0.0;
      const int sixth = j / 6;
      a(j, j) = 1.0 + sixth + (j >= nx ? 10.0 : 0.0);
    }
    expect_lowest(a, nx);
  }
}

/// Blocks whose squares, and numbers whose inverses, are beyond the range of normal numbers, beside others of norm
/// 1; sums of rows that are infinite.
TEST(LowestEigenpairs, AtTheEndsOfTheRangeOfNumbers) {
  for (const double tiny : {1e-5, 1e-140, 1e-155, 1e-158, 1e-160, 1e-161, 1e-165, 1e-310}) {
    SCOPED_TRACE(tiny);
    SmallMatrix a(5, 5);
    a(0, 0) = 1.0;
    a(1, 1) = 2.0;
    for (int j = 2; j < 5; ++j) {
      for (int i = 2; i < 5; ++i) a(i, j) = tiny * (i == j ? 3.0 + i : 1.0);
    }
    expect_lowest(a, 3);
    a(4, 0) = a(0, 4) = tiny;
    expect_lowest(a, 2);
  }
  SmallMatrix large(4, 4);
  for (int j = 0; j < 4; ++j) {
    for (int i = 0; i < 4; ++i) large(i, j) = i == j ? (j % 2 == 0 ? 1.5e308 : 0.75e308) : -0.6e308;
  }
  const LowestEigenpairs found = lowest_eigenpairs(large, 1);
  EXPECT_LT(found.values.front(), -1e307);
}

TEST(LowestEigenpairs, OfADifferenceOperatorInClosedForm) {
  for (const int n : {1, 2, 7, 8, 9, 64, 200}) {
    SCOPED_TRACE(n);
    SmallMatrix a(n, n);
    for (int i = 0; i < n; ++i) {
      a(i, i) = 2.0;
      if (i + 1 < n) a(i + 1, i) = -1.0;  // the lower triangle alone is read
    }
    const int count = (n + 2) / 3;
    const LowestEigenpairs found = lowest_eigenpairs(a, count);
    for (int j = 0; j < count; ++j) {
      const double angle = std::numbers::pi * (j + 1) / (n + 1);
      EXPECT_NEAR(found.values[static_cast<std::size_t>(j)], 2.0 - 2.0 * std::cos(angle), 4.0 * n * epsilon);
      for (int i = 0; i < n; ++i) {
        const double exact = std::sqrt(2.0 / (n + 1)) * std::sin(angle * (i + 1));
        const double sign = found.vectors(0, j) > 0.0 ? 1.0 : -1.0;
        EXPECT_NEAR(sign * found.vectors(i, j), exact, 1e-10);
      }
    }
  }
}

TEST(LowestEigenpairs, OfNothingAndOfLargeMatrices) {
  expect_lowest(SmallMatrix(), 0);
  expect_lowest(SmallMatrix(5, 5), 3);
  Random random(7);
  const int n = 270;  // by LAPACK
  SmallMatrix a = with_spectrum(random, spectrum(random, 1, n));
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < j; ++i) a(i, j) = a(j, i);
  }
  expect_lowest(a, 90);
}

TEST(LowestEigenpairs, RefusesValuesThatAreNotFinite) {
  SmallMatrix a = SmallMatrix::identity(6);
  a(3, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(lowest_eigenpairs(a, 2), NumericalError);
}

TEST(SturmSequences, CountAndBisectAlike) {
  Random random(3);
  for (const int n : {1, 5, 33, 90}) {
    Tridiagonal t;
    for (int i = 0; i < n; ++i) {
      t.diagonal.push_back(draw(random));
      t.beside.push_back(i + 1 == n || i % 7 == 3 ? 0.0 : draw(random));
    }
    const std::vector<double> values = smallest_eigenvalues(t, n);
    const std::vector<double> exact = lapack::tridiagonal_eigenvalues(t.diagonal, t.beside);
    for (int j = 0; j < n; ++j) {
      const auto at = static_cast<std::size_t>(j);
      EXPECT_NEAR(values[at], exact[at], 8.0 * n * epsilon * norm_inf(t));
      if (j + 1 == n || exact[at + 1] - exact[at] < 1e-10) continue;
      EXPECT_EQ(eigenvalues_below(t, 0, n, 0.5 * (exact[at] + exact[at + 1])), j + 1);
    }
  }
}

}  // namespace
}  // namespace block_eigs
