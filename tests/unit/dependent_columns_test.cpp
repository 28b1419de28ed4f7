#include "solver/small/dependent_columns.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "solver/small/lapack.hpp"

namespace block_eigs {
namespace {

SmallMatrix gram_of(const SmallMatrix& v) { return lapack::product(v, true, v, false); }

/// Columns of length 3, those of the unit matrix.
SmallMatrix axes(int rows, int cols) {
  SmallMatrix result(rows, cols);
  for (int j = 0; j < cols; ++j) result(j, j) = 3.0;
  return result;
}

TEST(DependentColumns, AreNoneOfOrthogonalOnes) {
  EXPECT_EQ(dependent_columns(gram_of(axes(9, 6))), std::vector<bool>(6, false));
}

TEST(DependentColumns, AreLaterOnesInTheSpanOfThoseBefore) {
  SmallMatrix v = axes(9, 6);
  // Of the first and the third, with a tenth of itself left; and of the second and that one.
  for (int i = 0; i < 9; ++i) v(i, 3) = 0.7 * v(i, 0) - 0.7 * v(i, 2) + 0.1 * v(i, 3);
  for (int i = 0; i < 9; ++i) v(i, 5) = v(i, 1) - v(i, 0);
  EXPECT_EQ(dependent_columns(gram_of(v)), (std::vector<bool>{false, false, false, true, false, true}));
}

TEST(DependentColumns, AreNotThoseThatAreNearlyOrthogonal) {
  SmallMatrix v = axes(9, 4);
  for (int i = 0; i < 9; ++i) v(i, 3) += 0.05 * v(i, 1);
  EXPECT_EQ(dependent_columns(gram_of(v)), std::vector<bool>(4, false));
}

TEST(DependentColumns, AreZeroOnesAndThoseThatAreNotFinite) {
  SmallMatrix gram = gram_of(axes(9, 4));
  gram(1, 1) = 0.0;
  gram(2, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(dependent_columns(gram), (std::vector<bool>{false, true, true, false}));
}

}  // namespace
}  // namespace block_eigs
