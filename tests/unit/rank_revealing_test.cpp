#include "solver/small/rank_revealing.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "solver/small/lapack.hpp"

namespace block_eigs {
namespace {

/// Columns with entries in [-1, 1), without order.
SmallMatrix scattered(int rows, int cols, int seed) {
  SmallMatrix result(rows, cols);
  for (int j = 0; j < cols; ++j) {
    for (int i = 0; i < rows; ++i) result(i, j) = 2.0 * ((i + 1) * (j + seed) * 48271 % 65537) / 65537 - 1.0;
  }
  return result;
}

SmallMatrix gram_of(const SmallMatrix& v) { return lapack::product(v, true, v, false); }

double distance(const SmallMatrix& a, const SmallMatrix& b) {
  EXPECT_EQ(a.rows(), b.rows());
  EXPECT_EQ(a.cols(), b.cols());
  double largest = 0.0;
  for (int j = 0; j < a.cols(); ++j) {
    for (int i = 0; i < a.rows(); ++i) largest = std::max(largest, std::abs(a(i, j) - b(i, j)));
  }
  return largest;
}

TEST(FactorGram, MakesIndependentColumnsOrthonormal) {
  SmallMatrix v = scattered(40, 7, 3);
  for (int i = 0; i < 40; ++i) v(i, 2) *= 1e9;
  for (int i = 0; i < 40; ++i) v(i, 5) *= 1e-9;
  const GramFactor found = factor_gram(gram_of(v), 1e-8);
  EXPECT_EQ(found.independent, 7);
  const SmallMatrix w = lapack::product(v, false, found.transform, false);
  EXPECT_LT(distance(gram_of(w), SmallMatrix::identity(7)), 1e-12);
  SmallMatrix back = lapack::product(w, false, found.factor, false);
  for (int i = 0; i < 40; ++i) {
    back(i, 2) *= 1e-9;
    v(i, 2) *= 1e-9;
  }
  EXPECT_LT(distance(back, v), 1e-12);
}

TEST(FactorGram, LeavesTheRestOfDependentColumns) {
  SmallMatrix v = scattered(40, 5, 3);
  for (int i = 0; i < 40; ++i) v(i, 4) = v(i, 0) - 2 * v(i, 2) + 1e-7 * v(i, 4);
  const GramFactor found = factor_gram(gram_of(v), 1e-8);
  EXPECT_EQ(found.independent, 4);
  const SmallMatrix w = lapack::product(v, false, found.transform, false);
  EXPECT_LT(distance(lapack::product(w, false, found.factor, false), v), 1e-13);
  const SmallMatrix gram = gram_of(w);
  for (int j = 0; j < 4; ++j) {
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(gram(i, j), i == j ? 1.0 : 0.0, 1e-12);
  }
  // What is left of the dependent column is short and nearly orthogonal to the others.
  EXPECT_LT(gram(4, 4), 1e-12);
  EXPECT_GT(gram(4, 4), 1e-16);
  for (int i = 0; i < 4; ++i) EXPECT_LT(std::abs(gram(i, 4)), 1e-13);
}

TEST(FactorGram, CountsZeroColumnsAsDependent) {
  SmallMatrix v = scattered(10, 3, 5);
  for (int i = 0; i < 10; ++i) v(i, 1) = 0.0;
  const GramFactor found = factor_gram(gram_of(v), 1e-8);
  EXPECT_EQ(found.independent, 2);
  EXPECT_LT(
      distance(lapack::product(lapack::product(v, false, found.transform, false), false, found.factor, false), v),
      1e-13);
}

TEST(LeadingDirections, SpansWhatIsLongEnough) {
  // Three directions of lengths 1, 1e-3 and 1e-6 in twelve columns.
  const SmallMatrix directions = scattered(9, 3, 4);
  SmallMatrix weights = scattered(3, 12, 7);
  for (int j = 0; j < 12; ++j) {
    weights(1, j) *= 1e-3;
    weights(2, j) *= 1e-6;
  }
  const SmallMatrix v = lapack::product(directions, false, weights, false);
  EXPECT_EQ(leading_directions(v, 1e-4).cols(), 2);
  EXPECT_EQ(leading_directions(v, 1e-12).cols(), 3);
  EXPECT_EQ(leading_directions(v, 1e3).cols(), 0);
  const SmallMatrix basis = leading_directions(v, 1e-4);
  EXPECT_LT(distance(gram_of(basis), SmallMatrix::identity(2)), 1e-14);
  const SmallMatrix within = lapack::product(basis, false, lapack::product(basis, true, v, false), false);
  for (int j = 0; j < 12; ++j) {
    double squared = 0.0;
    for (int i = 0; i < 9; ++i) squared += std::pow(v(i, j) - within(i, j), 2);
    EXPECT_LE(std::sqrt(squared), 1e-4);
  }
}

TEST(LeadingDirections, ZeroColumnsSpanNothing) {
  EXPECT_EQ(leading_directions(SmallMatrix(4, 3), 0.0).cols(), 0);
  EXPECT_EQ(leading_directions(SmallMatrix(4, 0), 0.0).cols(), 0);
}

TEST(InverseSpd, InvertsWhatIsPositiveDefinite) {
  SmallMatrix a = gram_of(scattered(30, 6, 3));
  for (int j = 0; j < 6; ++j) {
    for (int i = 0; i < 6; ++i) a(i, j) *= std::pow(10.0, i + j);
  }
  const SmallMatrix product = lapack::product(a, false, inverse_spd(a, 2.2e-16), false);
  for (int j = 0; j < 6; ++j) {
    for (int i = 0; i < 6; ++i) {
      EXPECT_NEAR(product(i, j) * std::pow(10.0, j - i), i == j ? 1.0 : 0.0, 1e-12);
    }
  }
}

TEST(InverseSpd, RefusesWhatIsNot) {
  SmallMatrix indefinite = SmallMatrix::identity(3);
  indefinite(2, 2) = -1e-9;
  EXPECT_EQ(inverse_spd(indefinite, 2.2e-16).cols(), 0);
  SmallMatrix singular(2, 2);
  for (double& value : singular.values()) value = 3.0;
  EXPECT_EQ(inverse_spd(singular, 2.2e-16).cols(), 0);
  SmallMatrix unknown = SmallMatrix::identity(2);
  unknown(0, 1) = unknown(1, 0) = std::nan("");
  EXPECT_EQ(inverse_spd(unknown, 2.2e-16).cols(), 0);
}

}  // namespace
}  // namespace block_eigs
