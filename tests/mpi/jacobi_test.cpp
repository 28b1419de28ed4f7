#include "solver/preconditioner/jacobi.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "solver/preconditioner/chebyshev.hpp"
#include "solver/small/lapack.hpp"
#include "tests/support/linear_problem.hpp"

// Jacobi and Chebyshev are finite, symmetric and positive definite whatever the diagonal, and of use where an
// entry of it is tiny beside its row.
namespace block_eigs {
namespace {

constexpr int n = 30;

/// The preconditioner as a matrix.
template <class T>
SmallMatrix dense(test::Problem<T>& problem, LinearOperator<T>& inverse) {
  const int size = static_cast<int>(problem.space.dimension());
  const DenseBlock<T> x =
      test::make_rhs(problem.space, size, [](GlobalIndex i, int j) { return i == j ? 1.0 : 0.0; });
  DenseBlock<T> y = problem.space.make_block(size);
  inverse.apply(x.view(), y.view());
  const std::vector<double> values = test::all_rows(problem.space, y);
  SmallMatrix result(size, size);
  std::copy(values.begin(), values.end(), result.data());
  return result;
}

/// Scaled to unit diagonal, which has to be positive.
void expect_positive_definite(SmallMatrix matrix, double epsilon) {
  std::vector<double> scales;
  for (int i = 0; i < matrix.rows(); ++i) {
    ASSERT_TRUE(std::isfinite(matrix(i, i)));
    ASSERT_GT(matrix(i, i), 0.0);
    scales.push_back(1.0 / std::sqrt(matrix(i, i)));
  }
  for (int j = 0; j < matrix.cols(); ++j) {
    for (int i = 0; i < matrix.rows(); ++i) {
      matrix(i, j) *= scales[static_cast<std::size_t>(i)] * scales[static_cast<std::size_t>(j)];
    }
  }
  for (int j = 0; j < matrix.cols(); ++j) {
    for (int i = 0; i < matrix.rows(); ++i) EXPECT_NEAR(matrix(i, j), matrix(j, i), 100 * epsilon);
  }
  EXPECT_GT(lapack::symmetric_eigen(matrix).front(), 0.0);
}

template <class T>
void expect_sound(const test::RuleSource::Rule& rule) {
  test::RuleSource source(n, rule);
  test::Problem<T> problem(source);
  const DistributedMatrix<T>& a = problem.matrix;
  Jacobi<T> jacobi(problem.context, a.jacobi_diagonal());
  expect_positive_definite(dense(problem, jacobi), std::numeric_limits<T>::epsilon());
  for (const int degree : {1, 2, 5, 8}) {
    Chebyshev<T> chebyshev(problem.context, problem.matrix, a.jacobi_diagonal(),
                           a.jacobi_bound() > 0.0 ? a.jacobi_bound() : 1.0, {.degree = degree},
                           is_constant(problem.comm, a.jacobi_diagonal()));
    expect_positive_definite(dense(problem, chebyshev), std::numeric_limits<T>::epsilon());
  }
}

double chain(GlobalIndex i, GlobalIndex j) { return i == j ? 2.0 : std::abs(i - j) == 1 ? -1.0 : 0.0; }

/// `chain` but for the diagonal entry of row 4.
test::RuleSource::Rule with_entry(double d) {
  return [d](GlobalIndex i, GlobalIndex j) { return i == 4 && j == 4 ? d : chain(i, j); };
}

TEST(JacobiDiagonal, OfAPositiveDefiniteMatrixIsItsDiagonal) {
  const auto scale = [](GlobalIndex i) { return std::pow(10.0, static_cast<double>(i * 7 % 41) - 20.0); };
  test::RuleSource source(n, [&](GlobalIndex i, GlobalIndex j) { return scale(i) * chain(i, j) * scale(j); });
  test::Problem<double> problem(source);
  EXPECT_EQ(problem.matrix.jacobi_diagonal(), problem.matrix.diagonal());
  EXPECT_DOUBLE_EQ(problem.matrix.jacobi_bound(), problem.matrix.scaled_gershgorin_bound());
}

TEST(JacobiDiagonal, ATinyEntryBesideALargeRowIsRaisedToWhatAPositiveDefiniteMatrixWouldHave) {
  for (const double d : {0.0, 5e-24, -5e-24, 1e-300}) {
    test::RuleSource source(n, with_entry(d));
    test::Problem<double> problem(source);
    const std::vector<double>& found = problem.matrix.jacobi_diagonal();
    for (std::size_t i = 0; i < found.size(); ++i) {
      const GlobalIndex row = problem.space.first_row() + static_cast<GlobalIndex>(i);
      EXPECT_DOUBLE_EQ(found[i], row == 4 ? 0.5 : 2.0);  // a_ij^2 <= a_ii a_jj
    }
    EXPECT_DOUBLE_EQ(problem.matrix.jacobi_bound(), 4.0);
  }
}

TEST(JacobiDiagonal, WithoutDiagonalIsTheSizeOfTheRows) {
  test::RuleSource source(n, [](GlobalIndex i, GlobalIndex j) { return i == j ? 0.0 : 3.0 * chain(i, j); });
  test::Problem<double> problem(source);
  for (const double d : problem.matrix.jacobi_diagonal()) EXPECT_DOUBLE_EQ(d, 3.0);
}

TEST(JacobiDiagonal, AnEmptyRowIsAsLargeAsOthers) {
  for (const double scale : {1e-20, 1.0, 1e20}) {
    test::RuleSource source(
        n, [=](GlobalIndex i, GlobalIndex j) { return i == 9 || j == 9 ? 0.0 : scale * chain(i, j); });
    test::Problem<double> problem(source);
    for (const double d : problem.matrix.jacobi_diagonal()) EXPECT_DOUBLE_EQ(d, 2.0 * scale);
  }
}

TEST(Preconditioners, ArePositiveDefiniteForAnyDiagonal) {
  for (const double d : {2.0, 0.0, -2.0, 1e-8, 5e-24, -5e-24, 1e-39, 1e-45, 1e6, 1e30}) {
    SCOPED_TRACE(d);
    expect_sound<float>(with_entry(d));
    expect_sound<double>(with_entry(d));
  }
  for (const double d : {5e-324, 1e-310, 1e-300, 1e250, 1e300}) {
    SCOPED_TRACE(d);
    expect_sound<double>(with_entry(d));
    expect_sound<double>([d](GlobalIndex i, GlobalIndex j) { return i != j ? 0.0 : i == 4 ? d : 1.0; });
  }
  expect_sound<double>([](GlobalIndex, GlobalIndex) { return 0.0; });
  expect_sound<float>([](GlobalIndex, GlobalIndex) { return 0.0; });
}

TEST(Preconditioners, OfAnIndefiniteChebyshevSpectrumStayUseful) {
  // With 1 / 5e-24 in it the bound would be 1e23 and the polynomial a multiple of D^-1.
  test::RuleSource source(n, with_entry(5e-24));
  test::Problem<double> problem(source);
  EXPECT_LE(problem.matrix.jacobi_bound(), 4.0 + 1e-12);
}

}  // namespace
}  // namespace block_eigs
