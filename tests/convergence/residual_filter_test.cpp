#include "solver/davidson/residual_filter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "io/generate/generate.hpp"
#include "solver/lobpcg/lobpcg_mixed.hpp"
#include "tests/support/eigen_problem.hpp"
#include "tests/support/linear_problem.hpp"

// Filters of residuals in float: on a diagonal matrix beside the polynomial by its closed form, and in a solver
// that they take to residuals far below what float can tell.
namespace block_eigs {
namespace {

constexpr GlobalIndex rows = 400;

double eigenvalue(GlobalIndex i) { return 12.0 * std::pow(static_cast<double>(i + 1) / rows, 2.0); }

/// T_degree((center - x) / half) / T_degree((center - anchor) / half), by cosines.
double polynomial(const FilterInterval& interval, int degree, double x) {
  const double center = 0.5 * (interval.upper + interval.lower);
  const double half = 0.5 * (interval.upper - interval.lower);
  const auto chebyshev = [&](double t) {
    if (std::abs(t) <= 1.0) return std::cos(degree * std::acos(t));
    return (t < 0.0 && degree % 2 == 1 ? -1.0 : 1.0) * std::cosh(degree * std::acosh(std::abs(t)));
  };
  return chebyshev((center - x) / half) / chebyshev((center - interval.anchor) / half);
}

struct Sample {
  double sign;
  bool in_steps;  ///< A takes steps along
  int degree;
};

class ResidualFilterTest : public testing::TestWithParam<Sample> {};

TEST_P(ResidualFilterTest, IsThePolynomialWithoutItsValueAtThePair) {
  const Sample sample = GetParam();
  test::RuleSource source(
      rows, [&](GlobalIndex i, GlobalIndex j) { return i == j ? sample.sign * eigenvalue(i) : 0.0; });
  test::Problem<double> problem(source);
  test::Problem<float> in_float(source);
  test::CountingOperator<float> counting(in_float.matrix);
  LinearOperator<float>& a = sample.in_steps ? static_cast<LinearOperator<float>&>(in_float.matrix) : counting;

  // Unit vectors and a little of everything else.
  constexpr LocalIndex pairs = 5;
  constexpr double little = 1e-6;
  BlockSpace<double>& space = problem.space;
  DenseBlock<double> x = space.make_block(pairs);
  DenseBlock<double> image = space.make_block(pairs);
  DenseBlock<double> r = space.make_block(pairs);
  space.fill_random(x.view(), 1);
  const GlobalIndex first_row = space.first_row();
  for (LocalIndex i = 0; i < space.local_rows(); ++i) {
    for (LocalIndex j = 0; j < pairs; ++j) {
      double& element = x.view().data[static_cast<std::ptrdiff_t>(i) * x.view().stride + j];
      element = (first_row + i == 3 * j + 2 ? 1.0 : 0.0) + little * element;
    }
  }
  problem.matrix.apply(x.view(), image.view());
  std::vector<double> quotients = space.column_dots(x.view(), image.view());
  const std::vector<double> squares = space.column_dots(x.view(), x.view());
  std::vector<double> values;
  for (std::size_t j = 0; j < quotients.size(); ++j) {
    quotients[j] /= squares[j];
    values.push_back(sample.sign * quotients[j]);
  }
  const std::vector<double> norms = space.residual(image.view(), x.view(), quotients, r.view());

  const std::vector<LocalIndex> columns{0, 2, 3};
  const FilterInterval interval{0.2, 12.0, values[0] - 1e-4};
  ResidualFilter filter(space, a, pairs);
  DenseBlock<double> w = space.make_block(static_cast<LocalIndex>(columns.size()));
  int cleaned = 0;
  filter.apply(
      space, {r.view(), norms, values, columns}, interval, sample.sign, sample.degree, 5,
      [&](BlockView<double> block) { cleaned += block.cols == w.cols() ? 1 : 0; }, w.view());

  EXPECT_EQ(cleaned, 2 * ((sample.degree - 1) / 5));
  EXPECT_EQ(counting.count, sample.in_steps ? 0 : (sample.degree - 1) * w.cols());
  for (std::size_t at = 0; at < columns.size(); ++at) {
    const auto j = static_cast<std::size_t>(columns[at]);
    double largest = 0.0;
    double error = 0.0;
    for (LocalIndex i = 0; i < space.local_rows(); ++i) {
      const auto row = static_cast<std::ptrdiff_t>(i);
      const double moved = eigenvalue(first_row + i) - (values[j] - values[0]);
      const double expected =
          (polynomial(interval, sample.degree, moved) - polynomial(interval, sample.degree, values[0])) *
          x.view().data[row * x.view().stride + columns[at]] / norms[j];
      largest = std::max(largest, std::abs(expected));
      error = std::max(
          error, std::abs(w.view().data[row * w.view().stride + static_cast<std::ptrdiff_t>(at)] - expected));
    }
    largest = problem.comm.max(largest);
    EXPECT_GT(largest, 0.0);
    EXPECT_LT(error, 3e-5 * largest) << "column " << j;
  }
}

INSTANTIATE_TEST_SUITE_P(, ResidualFilterTest,
                         testing::Values(Sample{1.0, true, 1}, Sample{1.0, true, 2}, Sample{1.0, true, 17},
                                         Sample{1.0, false, 11}, Sample{-1.0, true, 16}, Sample{-1.0, false, 6}),
                         [](const testing::TestParamInfo<Sample>& test) {
                           return std::string(test.param.sign > 0.0 ? "smallest" : "largest") +
                                  (test.param.in_steps ? "_steps_" : "_apart_") +
                                  std::to_string(test.param.degree);
                         });

TEST(ResidualFilter, TakesABasisInDoubleToItsLimitWithoutProductsInDouble) {
  const LaplacianOptions cube{.size = {18, 18, 18}};
  for (const Which which : {Which::smallest, Which::largest}) {
    const auto source = laplacian3d(Communicator(MPI_COMM_WORLD), cube);
    test::Problem<double> problem(*source);
    test::Problem<float> in_float(*source);
    test::CountingOperator<double> counting(problem.matrix);
    const LobpcgOptions options{
        .pairs = 7, .which = which, .tolerance = 1e-12, .filtered_start = true, .filter_basis = true};
    const auto result =
        lobpcg_mixed(problem.space, counting, nullptr, {&in_float.matrix, nullptr}, nullptr, {}, options);
    const std::vector<double> lowest = closed_form_laplacian_eigenvalues(cube, 7);
    ASSERT_EQ(result.eigenvalues.size(), lowest.size()) << result.remark;
    for (std::size_t j = 0; j < lowest.size(); ++j) {
      EXPECT_NE(result.outcomes[j], Outcome::not_converged) << j;
      // The spectrum of a bipartite grid is symmetric about the diagonal.
      const double exact = which == Which::smallest ? lowest[j] : 12.0 - lowest[j];
      EXPECT_NEAR(result.eigenvalues[j], exact, 1e-12 * 12.0) << j;
    }
    EXPECT_LT(test::orthogonality_error(problem.space, result.eigenvectors), 1e-12);
    long products = 0;
    for (const LobpcgIteration& iteration : result.history) products += iteration.products;
    EXPECT_LT(counting.count, products / 4);
  }
}

}  // namespace
}  // namespace block_eigs
