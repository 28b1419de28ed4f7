#include "solver/block_cg/column_scaling.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/linear_problem.hpp"

namespace block_eigs {
namespace {

template <class T>
void expect_norms(const std::vector<double>& sizes, double tolerance) {
  test::RuleSource source(40, [](GlobalIndex i, GlobalIndex j) { return i == j ? 1.0 : 0.0; });
  test::Problem<T> problem(source);
  const auto rule = [](GlobalIndex i, int j) { return 1.0 + static_cast<double>((i + j) % 3); };
  const int count = static_cast<int>(sizes.size());
  const DenseBlock<T> x = test::make_rhs(
      problem.space, count, [&](GlobalIndex i, int j) { return sizes[static_cast<std::size_t>(j)] * rule(i, j); });
  const ColumnScaling found = column_scaling<T>(problem.space, x.view(), 4);
  const std::vector<double> factors = found.factors(0, sizes.size(), false);
  for (int j = 0; j < count; ++j) {
    SCOPED_TRACE(sizes[static_cast<std::size_t>(j)]);
    double squared = 0.0;
    for (GlobalIndex i = 0; i < 40; ++i) squared += rule(i, j) * rule(i, j);
    const auto k = static_cast<std::size_t>(j);
    const double expected = sizes[k] * std::sqrt(squared);
    EXPECT_NEAR(found.norm(k), expected, tolerance * expected);
    if (sizes[k] == 1.0 || sizes[k] == 0.0) {
      EXPECT_EQ(found.exponents[k], 0);
    }
    if (found.exponents[k] == 0) continue;
    EXPECT_GE(found.scaled_norms[k], sizes[k] < 1e-290 ? 1e-60 : 1.0);
    EXPECT_LT(found.scaled_norms[k], 2.0);
    EXPECT_EQ(factors[k], std::ldexp(1.0, found.exponents[k]));
  }
}

TEST(ColumnScaling, OfDouble) {
  expect_norms<double>({1.0, 0.0, 1e-300, 1e-200, 1e-161, 1e-120, 1e-90, 1e90, 1e110, 1e154, 1e200, 1e300}, 1e-13);
  expect_norms<double>({1e-307, 1e306}, 1e-13);
}

TEST(ColumnScaling, OfFloat) {
  expect_norms<float>({1.0, 0.0, 1e-36, 1e-25, 1e-19, 1e-10, 1e-7, 1e7, 1e10, 1e19, 1e25, 1e35}, 1e-5);
}

TEST(ColumnScaling, ValuesThatAreNotFiniteAreNot) {
  test::RuleSource source(40, [](GlobalIndex i, GlobalIndex j) { return i == j ? 1.0 : 0.0; });
  test::Problem<double> problem(source);
  for (const double bad : {HUGE_VAL, std::nan("")}) {
    const DenseBlock<double> x =
        test::make_rhs(problem.space, 2, [&](GlobalIndex i, int j) { return i == 17 && j == 1 ? bad : 1e-200; });
    const ColumnScaling found = column_scaling<double>(problem.space, x.view(), 2);
    EXPECT_FALSE(std::isfinite(found.norm(1)));
    EXPECT_TRUE(std::isfinite(found.norm(0)));
  }
}

}  // namespace
}  // namespace block_eigs
