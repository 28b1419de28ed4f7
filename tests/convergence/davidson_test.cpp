#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "io/generate/generate.hpp"
#include "solver/davidson/davidson_plan.hpp"
#include "solver/lobpcg/chebyshev_davidson.hpp"
#include "solver/lobpcg/davidson_start.hpp"
#include "solver/lobpcg/lobpcg_start.hpp"
#include "tests/support/eigen_problem.hpp"
#include "tests/support/linear_problem.hpp"

// Block Chebyshev-Davidson against closed forms: threefold and sixfold eigenvalues, both ends, the luck of the
// seed.
namespace block_eigs {
namespace {

const LaplacianOptions cube{.size = {18, 18, 18}};

std::unique_ptr<MatrixSource> laplacian() { return laplacian3d(Communicator(MPI_COMM_WORLD), cube); }

long products_of(const EigenResult<double>& result) {
  long products = 0;
  for (const LobpcgIteration& iteration : result.history) products += iteration.products;
  return products;
}

TEST(Davidson, EverySeedTakesAsManyProductsAndFindsAllCopies) {
  test::Problem<double> problem(*laplacian());
  const std::vector<double> exact = closed_form_laplacian_eigenvalues(cube, 16);
  std::vector<long> products;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    const LobpcgOptions options{.pairs = 16, .tolerance = 1e-6, .seed = seed};
    const auto result = chebyshev_davidson<double>(problem.space, problem.matrix, nullptr, {}, options);
    ASSERT_EQ(result.eigenvalues.size(), exact.size()) << result.remark;
    for (std::size_t j = 0; j < exact.size(); ++j) {
      EXPECT_EQ(result.outcomes[j], Outcome::converged) << j;
      EXPECT_NEAR(result.eigenvalues[j], exact[j], 1e-8 * exact[j]) << j;
    }
    EXPECT_LT(test::orthogonality_error(problem.space, result.eigenvectors), 1e-12);
    // Filters alone: an iteration of LOBPCG multiplies a column at work once.
    for (const LobpcgIteration& iteration : result.history)
      EXPECT_GT(iteration.products, 2 * iteration.active_columns);
    products.push_back(products_of(result));
  }
  std::sort(products.begin(), products.end());
  const auto median = static_cast<double>(products[products.size() / 2]);
  EXPECT_LE(static_cast<double>(products.back()), 1.15 * median);
  EXPECT_GE(static_cast<double>(products.front()), 0.85 * median);
}

TEST(Davidson, UpperEnd) {
  test::Problem<double> problem(*laplacian());
  const LobpcgOptions options{.pairs = 7, .which = Which::largest, .tolerance = 1e-9};
  const auto result = chebyshev_davidson<double>(problem.space, problem.matrix, nullptr, {}, options);
  // The spectrum of a bipartite grid is symmetric about the diagonal.
  const std::vector<double> lowest = closed_form_laplacian_eigenvalues(cube, 7);
  ASSERT_EQ(result.eigenvalues.size(), lowest.size()) << result.remark;
  for (std::size_t j = 0; j < lowest.size(); ++j) {
    EXPECT_EQ(result.outcomes[j], Outcome::converged) << j;
    EXPECT_NEAR(result.eigenvalues[j], 12.0 - lowest[j], 1e-9) << j;
  }
}

// What float leaves to double: most pairs are locked at once, and there are more directions than what is left
// makes a basis for.
TEST(Davidson, TakesOfDirectionsWhatTheBasisOfTheRestHasRoomFor) {
  test::Problem<double> problem(*laplacian());
  constexpr int done = 52;
  const LobpcgOptions options{
      .pairs = 56, .tolerance = 1e-6, .block_size = 64, .filtered_start = true, .filter_basis = true};
  LobpcgOptions before = options;
  before.pairs = done;
  before.tolerance = 1e-9;
  auto found = lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, before);
  ASSERT_EQ(found.remark, "");
  Budget budget{30};
  Observer observer;
  Proceed proceed;
  std::vector<LobpcgIteration> history;
  const LobpcgRun<double> run{
      {problem.space, problem.matrix, nullptr, nullptr}, options, {}, budget, observer, proceed, history};
  LobpcgState<double> state{run.problem, options, options.block_size, 0};
  state.window = make_window(options, false);
  start_block<double>(run, state, {std::move(found.eigenvectors)});
  state.p.set_columns(options.block_size);
  problem.space.fill_random(state.p.v(), 3);
  EXPECT_EQ(davidson_start(run, state, true), DavidsonEnd::done);
  EXPECT_GE(state.locked.count(), done);
  const std::vector<double> exact = closed_form_laplacian_eigenvalues(cube, options.pairs);
  for (int j = 0; state.locked.count() + j < options.pairs; ++j) {
    const double value = exact[static_cast<std::size_t>(state.locked.count() + j)];
    EXPECT_NEAR(state.ritz.values[static_cast<std::size_t>(j)], value, 1e-8 * value);
  }
}

TEST(DavidsonPlan, BasesFitIntoSmallSpaces) {
  for (const int width : {1, 3, 8, 20, 40, 144}) {
    for (const GlobalIndex dimension : {5 * width, 7 * width, 20 * width, 1'000'000}) {
      const DavidsonShape shape = davidson_shape(width, dimension);
      EXPECT_GE(shape.block, dimension >= 7 * width ? 1 : 0) << width << ' ' << dimension;
      EXPECT_LE(shape.block, width);
      EXPECT_LE(shape.keep + shape.block, shape.capacity);
      EXPECT_LE(shape.capacity, dimension / 2);
    }
  }
}

TEST(DavidsonPlan, CutsStayBehindOpenPairs) {
  const DavidsonShape shape{2, 4, 12};
  const SpectrumBounds bounds{0.0, 10.0};
  const DavidsonPairs pairs{{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7}, {0.5, 1e3, 1e3}, 0.01};
  EXPECT_EQ(pairs.first_open(), 1);
  const auto filter = next_filter(pairs, shape, bounds, 0.45);
  ASSERT_TRUE(filter);
  EXPECT_DOUBLE_EQ(filter->interval.lower, 0.45);  // where it was
  EXPECT_DOUBLE_EQ(filter->interval.anchor, 0.19);
  EXPECT_GE(filter->degree * filter->interval.growth(0.2), 3.5);
  // A cut before the first open pair says nothing any more.
  EXPECT_DOUBLE_EQ(next_filter(pairs, shape, bounds, 0.15)->interval.lower, 0.5);
  // Nothing to be told apart.
  EXPECT_FALSE(next_filter({{1.0, 1.0, 1.0}, {1e3, 1e3}, 0.0}, shape, bounds, 0.5));
  EXPECT_TRUE(std::isnan(products_to_come(pairs, bounds, 0.25)));
  EXPECT_GT(products_to_come(pairs, bounds, 0.45), 0.0);
}

}  // namespace
}  // namespace block_eigs
