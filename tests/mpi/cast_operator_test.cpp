#include "solver/preconditioner/cast_operator.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "spmm/matrix/distributed_matrix.hpp"
#include "tests/support/linear_problem.hpp"

// A float operator lent to a double solver: columns of any size come through, whether their norms are looked for,
// known, or known about.
namespace block_eigs {
namespace {

constexpr int n = 40;
constexpr int columns = 4;

double entry(GlobalIndex i, GlobalIndex j) {
  if (i == j) return 2.5;
  return std::abs(i - j) == 1 ? -1.0 : 0.0;
}

/// Of columns that a float cannot hold, and of one that is zero.
double value(GlobalIndex i, int j) {
  constexpr double sizes[columns] = {1.0, 1e-120, 1e120, 0.0};
  return sizes[j] * std::sin(1.0 + static_cast<double>(i) * (j + 1));
}

struct Cast {
  test::RuleSource source{n, entry};
  test::Problem<double> problem{source};
  DistributedMatrix<float> inner{with_precision<float>(problem.context), source.read(problem.partition),
                                 problem.partition, problem.partition};
  CastOperator lent{problem.context, inner};
  DenseBlock<double> x = test::make_rhs(problem.space, columns, value);
  DenseBlock<double> exact = problem.space.make_block(columns);
  DenseBlock<double> y = problem.space.make_block(columns);

  Cast() { problem.matrix.apply(x.view(), exact.view()); }

  void expect_close() {
    const std::vector<double> got = test::all_rows(problem.space, y);
    const std::vector<double> wanted = test::all_rows(problem.space, exact);
    const std::vector<double> norms = problem.space.column_norms(exact.view());
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      const double norm = norms[k % columns];
      EXPECT_NEAR(got[k], wanted[k], 8.0 * std::numeric_limits<float>::epsilon() * norm) << k;
    }
  }
};

TEST(CastOperator, ColumnsOfAnySize) {
  Cast cast;
  cast.lent.apply(cast.x.view(), cast.y.view());
  cast.expect_close();
}

TEST(CastOperator, NormsThatAreKnownOrAboutKnown) {
  Cast cast;
  const std::vector<double> norms = cast.problem.space.column_norms(cast.x.view());
  for (const double factor : {1.0, 1e-10, 1e10}) {
    std::vector<double> about = norms;
    for (double& norm : about) norm *= factor;
    cast.lent.apply_sized(cast.x.view(), about, cast.y.view());
    cast.expect_close();
  }
}

TEST(CastOperator, NormsThatCannotBe) {
  Cast cast;
  const BlockView<double> x = cast.x.columns(0, 1);
  for (const double norm : {0.0, std::numeric_limits<double>::infinity(), std::nan(""), -1.0, 5e-324}) {
    cast.problem.space.copy(cast.exact.view(), cast.y.view());
    cast.lent.apply_sized(x, std::vector{norm}, cast.y.columns(0, 1));
    cast.expect_close();
  }
}

}  // namespace
}  // namespace block_eigs
