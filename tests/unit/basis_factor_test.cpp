#include "solver/small/basis_factor.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "solver/small/lapack.hpp"
#include "tests/support/random_problem.hpp"

// Factors of Gram matrices that begin with an identity or do not, against LAPACK's of the whole matrix.
namespace block_eigs {
namespace {

using test::Random;
using test::random_matrix;
using test::whole;

/// Positive definite, I in the leading `known` rows and columns.
SmallMatrix gram_of(Random& random, int known, int rest) {
  SmallMatrix gram = SmallMatrix::identity(known + rest);
  for (int j = known; j < gram.cols(); ++j) {
    for (int i = 0; i < j; ++i) gram(i, j) = gram(j, i) = test::uniform(random, -0.4, 0.4) / gram.cols();
  }
  return gram;
}

double largest_difference(const SmallMatrix& a, const SmallMatrix& b, bool lower_alone) {
  double most = 0.0;
  for (int j = 0; j < a.cols(); ++j) {
    for (int i = lower_alone ? j : 0; i < a.rows(); ++i) most = std::max(most, std::abs(a(i, j) - b(i, j)));
  }
  return most;
}

TEST(BasisFactor, DividesAsTheWholeFactorDoes) {
  for (int seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(static_cast<std::uint64_t>(seed));
    const int known = seed % 4 == 0 ? 0 : whole(random, 0, 20);
    const int rest = seed % 7 == 0 ? 0 : whole(random, 0, 12);
    const int n = known + rest;
    const SmallMatrix gram = gram_of(random, known, rest);
    const auto factor = factor_basis(gram, 0.1);
    ASSERT_TRUE(factor);
    EXPECT_GE(factor->known(), known);
    SmallMatrix lower = gram;
    ASSERT_TRUE(lapack::cholesky(lower));

    SmallMatrix a = random_matrix(random, n, n);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < j; ++i) a(i, j) = a(j, i);
    }
    SmallMatrix expected = a;
    lapack::solve_lower(lower, expected);
    SmallMatrix transposed(n, n);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) transposed(i, j) = expected(j, i);
    }
    lapack::solve_lower(lower, transposed);
    divide_by_factor(*factor, a);
    EXPECT_LE(largest_difference(a, transposed, true), 1e-13);

    SmallMatrix x = random_matrix(random, n, 5);
    SmallMatrix y = x;
    lapack::solve_lower_transposed(lower, y);
    solve_transposed(*factor, x);
    EXPECT_LE(largest_difference(x, y, false), 1e-13);
  }
}

TEST(BasisFactor, RefusesWhatIsDependentOrNearlySo) {
  SmallMatrix gram = SmallMatrix::identity(4);
  gram(0, 3) = gram(3, 0) = std::sqrt(0.99);
  EXPECT_TRUE(factor_basis(gram, 0.009));
  EXPECT_FALSE(factor_basis(gram, 0.011));
  gram(0, 3) = gram(3, 0) = 1.1;
  EXPECT_FALSE(factor_basis(gram, 0.0));
}

}  // namespace
}  // namespace block_eigs
