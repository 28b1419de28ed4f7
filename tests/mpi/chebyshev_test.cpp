#include "solver/preconditioner/chebyshev.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/linear_problem.hpp"

// The polynomial against its closed form on eigenvectors.
namespace block_eigs {
namespace {

constexpr GlobalIndex size = 60;

double angle(int wave) { return std::numbers::pi * wave / static_cast<double>(size + 1); }
/// Of D^-1 A, A tridiagonal with 2 and -1.
double eigenvalue(int wave) { return 1.0 - std::cos(angle(wave)); }

double chebyshev_polynomial(int degree, double x) {
  return std::abs(x) <= 1.0
             ? std::cos(degree * std::acos(x))
             : (x < 0.0 && degree % 2 == 1 ? -1.0 : 1.0) * std::cosh(degree * std::acosh(std::abs(x)));
}

/// Column j is the eigenvector of wave 1 + 7 j.
DenseBlock<double> eigenvectors(BlockSpace<double>& space, int count) {
  return test::make_rhs(
      space, count, [](GlobalIndex i, int j) { return std::sin(static_cast<double>(i + 1) * angle(1 + 7 * j)); });
}

TEST(Chebyshev, MultipliesEigenvectorsByItsPolynomial) {
  constexpr int columns = 9;
  constexpr double upper = 2.0;
  constexpr double ratio = 5.0;
  const double center = 0.5 * (upper + upper / ratio);
  const double half_width = 0.5 * (upper - upper / ratio);
  test::RuleSource source(
      size, [](GlobalIndex i, GlobalIndex j) { return i == j ? 2.0 : (std::abs(i - j) == 1 ? -1.0 : 0.0); });
  test::Problem<double> problem(source);
  const DenseBlock<double> x = eigenvectors(problem.space, columns);
  const std::vector<double> own = x.to_host();
  for (int degree = 1; degree <= 7; ++degree) {
    for (const bool constant_diagonal : {false, true}) {
      SCOPED_TRACE(std::to_string(degree) + (constant_diagonal ? ", constant diagonal" : ""));
      Chebyshev<double> chebyshev(problem.context, problem.matrix, problem.matrix.diagonal(), upper,
                                  {degree, ratio}, constant_diagonal);
      DenseBlock<double> y = problem.space.make_block(columns);
      chebyshev.apply(x.view(), y.view());
      const std::vector<double> result = y.to_host();
      for (std::size_t k = 0; k < own.size(); ++k) {
        const double lambda = eigenvalue(1 + 7 * static_cast<int>(k % columns));
        const double left = chebyshev_polynomial(degree, (center - lambda) / half_width) /
                            chebyshev_polynomial(degree, center / half_width);
        EXPECT_NEAR(result[k], (1.0 - left) / (2.0 * lambda) * own[k], 1e-12);
      }
    }
  }
}

}  // namespace
}  // namespace block_eigs
