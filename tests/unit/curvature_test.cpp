#include "solver/small/curvature.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "solver/small/lapack.hpp"

namespace block_eigs {
namespace {

constexpr int n = 12;
constexpr double epsilon = 2.2e-16;

/// S^T [A S, S] for A = diag(eigenvalues) in some orthonormal basis and scattered columns S.
SmallMatrix products_of(const std::vector<double>& eigenvalues, int cols) {
  SmallMatrix s(n, cols);
  for (int j = 0; j < cols; ++j) {
    for (int i = 0; i < n; ++i) s(i, j) = 2.0 * ((i + 1) * (j + 3) * 48271 % 65537) / 65537 - 1.0;
  }
  SmallMatrix as = s;
  for (int j = 0; j < cols; ++j) {
    for (int i = 0; i < n; ++i) as(i, j) *= eigenvalues[static_cast<std::size_t>(i)];
  }
  const SmallMatrix projected = lapack::product(s, true, as, false);
  const SmallMatrix gram = lapack::product(s, true, s, false);
  SmallMatrix products(cols, 2 * cols);
  std::copy_n(projected.data(), projected.values().size(), products.data());
  std::copy_n(gram.data(), gram.values().size(), products.column(cols));
  return products;
}

TEST(Curvature, OfAPositiveDefiniteMatrixLiesWithinItsSpectrum) {
  std::vector<double> eigenvalues(n, 2.0);
  eigenvalues[3] = 0.5;
  eigenvalues[7] = 9.0;
  const Curvature found = examine_curvature(products_of(eigenvalues, 4), 9.0, epsilon);
  EXPECT_FALSE(found.indefinite);
  EXPECT_EQ(found.null_directions.cols(), 0);
  EXPECT_GE(found.smallest, 0.5);
  EXPECT_LE(found.largest, 9.0);
  EXPECT_LT(found.smallest, found.largest);
}

TEST(Curvature, OnTheWholeSpaceIsTheSpectrum) {
  std::vector<double> eigenvalues;
  for (int i = 0; i < n; ++i) eigenvalues.push_back(1.0 + i);
  SmallMatrix products(n, 2 * n);
  for (int i = 0; i < n; ++i) {
    products(i, i) = eigenvalues[static_cast<std::size_t>(i)] * 1e-20;  // columns of very different length
    products(i, n + i) = 1e-20;
  }
  const Curvature found = examine_curvature(products, 12.0, epsilon);
  EXPECT_NEAR(found.smallest, 1.0, 1e-13);
  EXPECT_NEAR(found.largest, 12.0, 1e-12);
}

TEST(Curvature, NegativeIsSeen) {
  std::vector<double> eigenvalues(n, 1.0);
  eigenvalues[0] = -30.0;
  const Curvature found = examine_curvature(products_of(eigenvalues, 4), 30.0, epsilon);
  EXPECT_TRUE(found.indefinite);
  EXPECT_LT(found.smallest, 0.0);
}

TEST(Curvature, NullDirectionsAreFoundWithUnitLength) {
  // S spans two coordinates, one of them in the null space of A.
  SmallMatrix products(2, 4);
  const double a[2][2] = {{3.0, 1.0}, {1.0, 2.0}};  // columns of S in these coordinates
  const double lambda[2] = {0.0, 5.0};
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      for (int k = 0; k < 2; ++k) {
        products(i, j) += a[k][i] * lambda[k] * a[k][j];
        products(i, 2 + j) += a[k][i] * a[k][j];
      }
    }
  }
  const Curvature found = examine_curvature(products, 5.0, epsilon);
  EXPECT_FALSE(found.indefinite);
  ASSERT_EQ(found.null_directions.cols(), 1);
  const double* v = found.null_directions.column(0);
  EXPECT_NEAR(std::abs(a[0][0] * v[0] + a[0][1] * v[1]), 1.0, 1e-7);
  EXPECT_NEAR(a[1][0] * v[0] + a[1][1] * v[1], 0.0, 1e-7);
}

/// A direction of two in a matrix with rows of very different size: s^T A s = value, |s|^T |A| |s| = scale.
SmallMatrix beside_a_large_one(double value) {
  SmallMatrix products(2, 4);
  products(0, 0) = 1e12;
  products(1, 1) = value;
  products(0, 2) = products(1, 3) = 1.0;
  return products;
}

TEST(Curvature, SmallRowsAreNotTakenForANullSpaceWhereTheirSizeIsKnown) {
  const CurvatureMeasure measure{SmallMatrix::identity(2), {1e12, 1e-8}};
  Curvature found = examine_curvature(beside_a_large_one(1e-9), 1e12, epsilon);
  EXPECT_EQ(found.null_directions.cols(), 1);
  found = examine_curvature(beside_a_large_one(1e-9), 1e12, epsilon, &measure);
  EXPECT_EQ(found.null_directions.cols(), 0);
  EXPECT_FALSE(found.indefinite);
  found = examine_curvature(beside_a_large_one(-1e-9), 1e12, epsilon);
  EXPECT_FALSE(found.indefinite);
  found = examine_curvature(beside_a_large_one(-1e-9), 1e12, epsilon, &measure);
  EXPECT_TRUE(found.indefinite);
  for (const double value : {1e-24, 0.0, -1e-24, -1e-22}) {
    found = examine_curvature(beside_a_large_one(value), 1e12, epsilon, &measure);
    EXPECT_EQ(found.null_directions.cols(), 1);
    EXPECT_FALSE(found.indefinite);
  }
}

TEST(Curvature, OfNumbersBeyondTheRangeNothingIsSaid) {
  SmallMatrix products(2, 4);
  for (double& value : products.values()) value = 1e308;
  products(0, 2) = products(1, 3) = 1e-308;
  const Curvature found = examine_curvature(products, 1.0, epsilon);
  EXPECT_FALSE(found.indefinite);
  EXPECT_EQ(found.null_directions.cols(), 0);
}

TEST(Curvature, OfNothing) {
  const Curvature found = examine_curvature(SmallMatrix(2, 4), 1.0, epsilon);
  EXPECT_FALSE(found.indefinite);
  EXPECT_EQ(found.null_directions.cols(), 0);
}

TEST(Curvature, TheSignOfOneFormIsToldAsFarAsRoundingErrorsLet) {
  // ||A|| p^T p = 1e6, |p|^T |A| |p| = 1.
  const auto sign = [](double value) { return curvature_sign(value, 1e6, 1.0, epsilon); };
  EXPECT_EQ(sign(10.0 * epsilon), CurvatureSign::positive);
  EXPECT_EQ(sign(0.5 * epsilon), CurvatureSign::vanishing);
  EXPECT_EQ(sign(0.0), CurvatureSign::vanishing);
  EXPECT_EQ(sign(-100.0 * epsilon), CurvatureSign::vanishing);
  EXPECT_EQ(sign(-1e5 * epsilon), CurvatureSign::negative);
  // Where the estimate is larger than the bound, that holds.
  EXPECT_EQ(curvature_sign(2e3 * epsilon, 1e2, 1e9, epsilon), CurvatureSign::positive);
  EXPECT_EQ(curvature_sign(-2e3 * epsilon, 1e2, 1e9, epsilon), CurvatureSign::negative);
}

}  // namespace
}  // namespace block_eigs
