#include "solver/lanczos/block_lanczos.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "solver/lanczos/orthonormal_factor.hpp"
#include "spmm/error.hpp"
#include "tests/support/diagonal_operator.hpp"
#include "tests/support/eigen_problem.hpp"
#include "tests/support/linear_problem.hpp"

// Operators M = D B with diagonal D and B, whose eigenvalues are their entries.
namespace block_eigs {
namespace {

using Rule = test::DiagonalRule;
using test::DiagonalOperator;

template <class T>
class BlockLanczos : public ::testing::Test {
 protected:
  static constexpr GlobalIndex n = 2000;

  BlockLanczos() : source(n, [](GlobalIndex i, GlobalIndex j) { return i == j ? 1.0 : 0.0; }), problem(source) {}

  /// Of the operator with these eigenvalues; `mass` is B's diagonal.
  LanczosVectors<T> solve(const Rule& value, int pairs, const DenseBlock<T>* constraints = nullptr) {
    DiagonalOperator<T> inverse(problem.space, [&](GlobalIndex i) { return value(i) / mass(i); });
    DiagonalOperator<T> b(problem.space, mass);
    solves = 0;
    return block_lanczos<T>(
        problem.space, inverse, with_mass ? &b : nullptr, constraints, {.pairs = pairs, .columns = pairs + 5},
        [&](double found) { return tolerance * found; },
        [&](const LanczosPairs& found) {
          solves += found.solves;
          return true;
        });
  }

  /// Rayleigh quotients of the first vectors, which must be nearly orthonormal and nearly eigenvectors.
  void check(const Rule& value, const LanczosVectors<T>& found, std::vector<double> exact, int pairs,
             double error) {
    const DenseBlock<T>& x = found.vectors;
    ASSERT_GE(x.cols(), pairs);
    ASSERT_EQ(found.values.size(), static_cast<std::size_t>(x.cols()));
    std::sort(exact.rbegin(), exact.rend());
    DiagonalOperator<T> m(problem.space, value);
    DiagonalOperator<T> b(problem.space, mass);
    DenseBlock<T> mx = problem.space.make_block(x.cols());
    DenseBlock<T> bx = problem.space.make_block(x.cols());
    m.apply(x.view(), mx.view());
    b.apply(x.view(), bx.view());
    SmallMatrix energies, lengths;
    problem.space.gram({mx.view()}, {bx.view()}, energies);
    problem.space.gram({x.view()}, {bx.view()}, lengths);
    const double apart = std::min(1e3 * error, 1e-3);  // one vector that came back twice is not
    for (int j = 0; j < pairs; ++j) {
      const double quotient = energies(j, j) / lengths(j, j);
      const double wanted = exact[static_cast<std::size_t>(j)];
      EXPECT_NEAR(quotient, wanted, error * wanted) << "pair " << j;
      EXPECT_NEAR(found.values[static_cast<std::size_t>(j)], wanted, 10.0 * error * wanted) << "pair " << j;
      for (int i = 0; i < pairs; ++i)
        EXPECT_NEAR(lengths(i, j) / std::sqrt(lengths(i, i) * lengths(j, j)), i == j ? 1.0 : 0.0, apart);
    }
  }
  void check_all(const Rule& value, int pairs, double error) {
    std::vector<double> exact;
    for (GlobalIndex i = 0; i < n; ++i) exact.push_back(value(i));
    check(value, solve(value, pairs), exact, pairs, error);
  }

  test::RuleSource source;
  test::Problem<T> problem;
  Rule mass = [](GlobalIndex) { return 1.0; };
  bool with_mass = false;
  double tolerance = sizeof(T) == sizeof(double) ? 1e-10 : 1e-4;
  int solves = 0;
};

using InDouble = BlockLanczos<double>;
using InFloat = BlockLanczos<float>;

double inverse_square(GlobalIndex i) { return 1.0 / std::pow(static_cast<double>(i + 1), 2); }
double inverse_root(GlobalIndex i) { return 1.0 / std::sqrt(static_cast<double>(i + 1)); }

TEST_F(InDouble, FindsTheLargestValues) {
  for (const int pairs : {1, 8, 40}) {
    SCOPED_TRACE(pairs);
    check_all(inverse_square, pairs, 1e-13);
    EXPECT_LT(solves, 150 + 5 * pairs);
    check_all(inverse_root, pairs, 1e-13);
    EXPECT_LT(solves, 300 + 12 * pairs);
  }
}

TEST_F(InFloat, FindsTheLargestValues) { check_all(inverse_square, 8, 1e-5); }

TEST_F(InDouble, WithAMass) {
  with_mass = true;
  mass = [](GlobalIndex i) { return i % 3 == 0 ? 1e-3 : 40.0 + static_cast<double>(i % 7); };
  for (const int pairs : {3, 30}) check_all(inverse_root, pairs, 1e-12);
}

// More copies of a value than random vectors of the first block tell.
TEST_F(InDouble, AllCopiesOfAValue) {
  for (const int copies : {7, 20, 45}) {
    SCOPED_TRACE(copies);
    check_all([=](GlobalIndex i) { return i < copies ? 1.0 : inverse_root(i); }, copies + 10, 1e-12);
    check_all([=](GlobalIndex i) { return i >= 10 && i < 10 + copies ? 0.1 : inverse_square(i / 20); },
              copies + 30, 1e-12);
  }
}

TEST_F(InDouble, MoreCopiesThanTheBlockMayHaveAtFirst) {
  check_all([](GlobalIndex i) { return i < 140 ? 1.0 : inverse_root(i); }, 150, 1e-12);
  EXPECT_LT(solves, 4000);
}

// Rigid motions beside a shift that is next to nothing: M knows the others to rounding errors of these alone.
TEST_F(InDouble, ValuesFarLargerThanTheOthers) {
  for (const int far : {1, 6, 40}) {
    SCOPED_TRACE(far);
    check_all([=](GlobalIndex i) { return i < far ? 1e13 : 1e3 * inverse_square(i - far); }, far + 12, 1e-11);
  }
}

// The space of a start block ends soon, and random vectors take its place.
TEST_F(InDouble, FewDistinctValues) {
  check_all([](GlobalIndex i) { return 1.0 + static_cast<double>(i % 4); }, 30, 1e-12);
  check_all([](GlobalIndex i) { return i < 12 ? 1.0 : 1e-20; }, 10, 1e-12);
}

TEST_F(InDouble, StaysOutsideOfConstraints) {
  DenseBlock<double> constraints = problem.space.make_block(3);
  const BlockView<double> c = constraints.view();
  for (LocalIndex i = 0; i < c.rows; ++i) {
    for (LocalIndex j = 0; j < 3; ++j)
      c.data[i * c.stride + j] = problem.space.first_row() + i == 2 * j ? 3.0 : 0.0;  // rows 0, 2 and 4
  }
  std::vector<double> exact;
  for (GlobalIndex i = 0; i < n; ++i) {
    if (i > 4 || i % 2 == 1) exact.push_back(inverse_square(i));
  }
  check(inverse_square, solve(inverse_square, 9, &constraints), exact, 9, 1e-13);
}

// More values than random columns that residuals as large as these do not tell apart are like copies of one.
TEST_F(InDouble, AllOfClustersThatTheToleranceDoesNotTellApart) {
  const Rule near_copies = [](GlobalIndex i) {
    const double spread = 1e-9 * static_cast<double>(i % 61);
    return i < 61 ? 1.0 + spread : 0.4 / std::sqrt(static_cast<double>(i - 60));
  };
  std::vector<double> exact;
  for (GlobalIndex i = 0; i < n; ++i) exact.push_back(near_copies(i));
  for (const double loose : {1e-2, 1e-4, 1e-6, 1e-8}) {
    SCOPED_TRACE(loose);
    tolerance = loose;
    for (const int pairs : {20, 64}) check(near_copies, solve(near_copies, pairs), exact, pairs, loose);
  }
}

TEST_F(InDouble, EndsOnRequestWithWhatItHas) {
  DiagonalOperator<double> inverse(problem.space, inverse_root);
  int steps = 0;
  const LanczosVectors<double> found = block_lanczos<double>(
      problem.space, inverse, nullptr, nullptr, {.pairs = 5, .columns = 9}, [](double) { return 1e-300; },
      [&](const LanczosPairs&) { return ++steps < 3; });
  EXPECT_EQ(steps, 3);
  EXPECT_EQ(found.vectors.cols(), 9);
  const LanczosVectors<double> others =
      block_lanczos<double>(problem.space, inverse, nullptr, nullptr, {.pairs = 5, .columns = 9, .most_steps = 7},
                            [](double) { return 1e-300; });
  EXPECT_EQ(others.vectors.cols(), 9);
}

TEST_F(InDouble, NeedsRoomForABasis) {
  DiagonalOperator<double> inverse(problem.space, inverse_root);
  const LanczosVectors<double> found = block_lanczos<double>(
      problem.space, inverse, nullptr, nullptr, {.pairs = 450, .columns = 500}, [](double) { return 1.0; });
  EXPECT_EQ(found.vectors.cols(), 0);
}

TEST_F(InDouble, RefusesValuesThatAreNotFinite) {
  DiagonalOperator<double> inverse(problem.space, [](GlobalIndex i) { return i == 77 ? HUGE_VAL : 1.0; });
  EXPECT_THROW(block_lanczos<double>(problem.space, inverse, nullptr, nullptr, {.pairs = 5, .columns = 9},
                                     [](double) { return 1.0; }),
               NumericalError);
}

// Directions that one Gram matrix does not tell from rounding errors of the longest: W = Q R holds for all of
// them.
TEST_F(InDouble, FactorsOfColumnsThatNearlyDepend) {
  constexpr int columns = 6;
  DenseBlock<double> w = problem.space.make_block(columns);
  DenseBlock<double> given = problem.space.make_block(columns);
  problem.space.fill_random(given.view(), 11);
  const BlockView<double> x = given.view();
  for (LocalIndex i = 0; i < x.rows; ++i) {
    double* row = x.data + i * x.stride;
    for (int j = 1; j < columns; ++j) row[j] = 1e3 * row[0] + std::pow(1e-2, j) * row[j];
    row[columns - 1] = 2.0 * row[0];
  }
  problem.space.copy(given.view(), w.view());
  SmallMatrix r;
  const LocalIndex kept = orthonormal_factor<double>(problem.space, nullptr, w.view(), w.view(), r);
  EXPECT_EQ(kept, columns - 1) << "the last is a copy";
  ASSERT_EQ(r.rows(), kept);
  SmallMatrix gram, along;
  problem.space.gram({w.columns(0, kept)}, {w.columns(0, kept)}, gram);
  problem.space.gram({w.columns(0, kept)}, {given.view()}, along);
  for (int j = 0; j < kept; ++j) {
    for (int i = 0; i < kept; ++i) EXPECT_NEAR(gram(i, j), i == j ? 1.0 : 0.0, 1e-5);
  }
  for (int j = 0; j < columns; ++j) {
    for (int i = 0; i < kept; ++i) EXPECT_NEAR(along(i, j), r(i, j), 1e-10 * std::abs(along(0, 1)));
  }
  DenseBlock<double> difference = problem.space.make_block(columns);
  problem.space.update({w.columns(0, kept)}, r, {difference.view()});
  const ConstBlockView<double> qr = difference.view();
  for (LocalIndex i = 0; i < x.rows; ++i) {
    for (int j = 0; j < columns; ++j) EXPECT_NEAR(qr.data[i * qr.stride + j], x.data[i * x.stride + j], 1e-11);
  }
}

TEST_F(InDouble, RepeatsToTheBit) {
  const LanczosVectors<double> one = solve(inverse_root, 10);
  const LanczosVectors<double> two = solve(inverse_root, 10);
  ASSERT_EQ(one.values, two.values);
  const ConstBlockView<double> x = one.vectors.view(), y = two.vectors.view();
  for (LocalIndex i = 0; i < x.rows; ++i) {
    for (LocalIndex j = 0; j < x.cols; ++j) ASSERT_EQ(x.data[i * x.stride + j], y.data[i * y.stride + j]);
  }
}

}  // namespace
}  // namespace block_eigs
