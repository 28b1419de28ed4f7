#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "io/generate/generate.hpp"
#include "solver/davidson/davidson_plan.hpp"
#include "solver/lobpcg/chebyshev_davidson.hpp"
#include "solver/lobpcg/davidson_start.hpp"
#include "solver/lobpcg/lobpcg_mixed.hpp"
#include "solver/lobpcg/lobpcg_start.hpp"
#include "tests/support/eigen_problem.hpp"
#include "tests/support/linear_problem.hpp"
#include "tests/support/turned_diagonal.hpp"

// Block Chebyshev-Davidson against closed forms: threefold and sixfold eigenvalues, both ends, the luck of the
// seed, spectra that are not what bounds lead to expect.
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
  std::optional<FilterProgress> progress;
  EXPECT_EQ(davidson_start(run, state, true, progress), DavidsonEnd::done);
  EXPECT_GE(state.locked.count(), done);
  const std::vector<double> exact = closed_form_laplacian_eigenvalues(cube, options.pairs);
  for (int j = 0; state.locked.count() + j < options.pairs; ++j) {
    const double value = exact[static_cast<std::size_t>(state.locked.count() + j)];
    EXPECT_NEAR(state.ritz.values[static_cast<std::size_t>(j)], value, 1e-8 * value);
  }
}

/// A diagonal matrix of these values, in an order that says nothing, and its pairs by filters begun in float.
EigenResult<double> pairs_of_diagonal(const std::vector<double>& values, int pairs) {
  const auto n = static_cast<GlobalIndex>(values.size());
  constexpr GlobalIndex step = 7;  // prime to n
  test::RuleSource source(n, [&](GlobalIndex i, GlobalIndex j) {
    return i == j ? values[static_cast<std::size_t>(i * step % n)] : 0.0;
  });
  test::Problem<double> problem(source);
  test::Problem<float> in_float(source);
  const LobpcgOptions options{.pairs = pairs,
                              .tolerance = 1e-8,
                              .max_iterations = 60,
                              .dense_up_to = 0,
                              .filtered_start = true,
                              .filter_basis = true};
  return lobpcg_mixed(problem.space, problem.matrix, nullptr, {&in_float.matrix, nullptr}, nullptr, {}, options);
}

std::vector<double> evenly(double from, double to, int count) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(from + (to - from) * i / (count - 1));
  return values;
}

/// That filters alone find the lowest 8: iterations of LOBPCG would be more.
void expect_pairs_of_diagonal(const std::vector<double>& values, double error, int most_iterations) {
  const auto result = pairs_of_diagonal(values, 8);
  for (std::size_t j = 0; j < 8; ++j) {
    EXPECT_EQ(result.outcomes[j], values[j] != 0.0 ? Outcome::converged : Outcome::at_accuracy_limit)
        << j << ' ' << result.remark;
    EXPECT_NEAR(result.eigenvalues[j], values[j], error) << j;
  }
  EXPECT_LE(result.iterations, most_iterations);
}

// The filter of random vectors takes the spectrum for positive, and amplifies what is not beyond float's range.
TEST(Davidson, BeginsAnewWhereTheFirstFilterLeavesTheRange) {
  expect_pairs_of_diagonal(evenly(-7.0, 6.9, 1200), 1e-12, 30);
}

// Pairs far before all others move the middle of what the spectrum is expected to hold, and the limit of a value
// that goes to zero falls faster than its residual.
TEST(Davidson, PairsFarBeforeTheOthersAndAValueOfZero) {
  std::vector<double> values = evenly(0.0, 4.0, 1497);
  values.insert(values.begin(), {-1000.0, -999.5, -300.0});
  expect_pairs_of_diagonal(values, 1e-10, 40);
}

// What filters bring forth lies along the basis but for rounding errors, from which pairs that are done come back
// as new ones unless the basis is orthogonal to rounding. A star of m vertices has the eigenvalues 0, 1 (m - 2
// times) and m; there are more zeros than guard vectors.
TEST(Davidson, PairsThatAreDoneDoNotComeBack) {
  constexpr int zeros = 35, pairs = 40;
  std::vector<GlobalIndex> hub_of;
  std::vector<int> vertices;
  for (int star = 0; star < zeros; ++star) {
    const int size = 12 + 17 * star % 48;
    const auto hub = static_cast<GlobalIndex>(hub_of.size());
    hub_of.insert(hub_of.end(), static_cast<std::size_t>(size), hub);
    vertices.insert(vertices.end(), static_cast<std::size_t>(size), size);
  }
  test::RuleSource source(static_cast<GlobalIndex>(hub_of.size()), [&](GlobalIndex i, GlobalIndex j) {
    const GlobalIndex hub = hub_of[static_cast<std::size_t>(i)];
    if (i == j) return i == hub ? vertices[static_cast<std::size_t>(i)] - 1.0 : 1.0;
    return (i == hub || j == hub) && hub_of[static_cast<std::size_t>(j)] == hub ? -1.0 : 0.0;
  });
  test::Problem<double> problem(source);
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    const LobpcgOptions options{
        .pairs = pairs, .tolerance = seed % 2 == 0 ? 1e-12 : 1e-11, .seed = seed, .dense_up_to = 0};
    const auto result = chebyshev_davidson<double>(problem.space, problem.matrix, nullptr, {}, options);
    ASSERT_EQ(result.eigenvalues.size(), pairs) << result.remark;
    for (std::size_t j = 0; j < pairs; ++j) {
      EXPECT_NE(result.outcomes[j], Outcome::not_converged) << j << ' ' << result.remark;
      EXPECT_NEAR(result.eigenvalues[j], j < zeros ? 0.0 : 1.0, 1e-11) << j;
    }
    EXPECT_LT(test::orthogonality_error(problem.space, result.eigenvectors), 1e-12);
  }
}

// Each value 50 times, for 20 pairs: all that a block holds, and more, are copies of one.
TEST(Davidson, ClustersWiderThanTheBlock) {
  std::vector<double> values;
  for (int i = 0; i < 700; ++i) values.push_back(1.0 + std::floor(i / 50.0));
  const auto result = pairs_of_diagonal(values, 20);
  for (std::size_t j = 0; j < 20; ++j) {
    EXPECT_NE(result.outcomes[j], Outcome::not_converged) << j << ' ' << result.remark;
    EXPECT_NEAR(result.eigenvalues[j], values[j], 1e-10) << j;
  }
  EXPECT_LE(products_of(result), 10'000);
}

// Zero 300 times, for 25 pairs: more copies than a basis holds, and limits that are rounding errors.
TEST(Davidson, MoreCopiesThanTheBasisHolds) {
  std::vector<double> values(600, 0.0);
  for (std::size_t i = 0; i < 300; ++i)
    values[300 + i] = 0.04 * std::pow(200.0, static_cast<double>(i * 7 % 300) / 299.0);
  test::RuleSource source = test::turned_diagonal(values);
  test::Problem<double> problem(source);
  test::Problem<float> in_float(source);
  for (const bool basis : {true, false}) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      SCOPED_TRACE(seed);
      const LobpcgOptions options{.pairs = 25,
                                  .tolerance = 1e-8,
                                  .max_iterations = 60,
                                  .seed = seed,
                                  .dense_up_to = 0,
                                  .filtered_start = true,
                                  .filter_basis = basis};
      const auto result =
          seed % 2 == 0 ? lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, options)
                        : lobpcg_mixed(problem.space, problem.matrix, nullptr, {&in_float.matrix, nullptr},
                                       nullptr, {}, options);
      ASSERT_EQ(result.eigenvalues.size(), 25) << result.remark;
      for (std::size_t j = 0; j < 25; ++j) {
        EXPECT_NE(result.outcomes[j], Outcome::not_converged) << j << ' ' << result.remark;
        EXPECT_NEAR(result.eigenvalues[j], 0.0, 1e-13) << j;
      }
      EXPECT_LE(result.iterations, 10);
      EXPECT_LT(test::orthogonality_error(problem.space, result.eigenvectors), 1e-12);
    }
  }
}

// The first cut is among the wanted values.
TEST(Davidson, MorePairsThanLieBeforeTheFirstCut) {
  const LaplacianOptions square{.size = {50, 50}};
  test::Problem<double> problem(*laplacian2d(Communicator(MPI_COMM_WORLD), square));
  const std::vector<double> exact = closed_form_laplacian_eigenvalues(square, 40);
  const LobpcgOptions options{.pairs = 40, .tolerance = 1e-8, .dense_up_to = 0};
  const auto result = chebyshev_davidson<double>(problem.space, problem.matrix, nullptr, {}, options);
  ASSERT_EQ(result.eigenvalues.size(), exact.size()) << result.remark;
  for (std::size_t j = 0; j < exact.size(); ++j) {
    EXPECT_EQ(result.outcomes[j], Outcome::converged) << j;
    EXPECT_NEAR(result.eigenvalues[j], exact[j], 1e-9 * exact[j]) << j;
  }
  EXPECT_LE(products_of(result), 10'000);
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

TEST(DavidsonPlan, FiltersResidualsWhereIntervalsMayMove) {
  const DavidsonShape shape{2, 4, 12};
  const SpectrumBounds bounds{0.0, 10.0};
  DavidsonPairs pairs{{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7}, {0.5, 1e3, 1e3}, 0.01};
  EXPECT_FALSE(next_filter(pairs, shape, bounds, 0.6)->of_residuals);
  EXPECT_TRUE(next_filter(pairs, shape, bounds, 0.6, true)->of_residuals);
  // Most of the spectrum would lie before an interval that has moved as far as the last value.
  EXPECT_FALSE(next_filter(pairs, shape, {0.0, 2.0}, 0.6, true)->of_residuals);
  // Little is missing, and moved intervals keep as much of the last pair as of the first.
  pairs.ratios = {1.5, 1.5, 1.5};
  const auto moved = next_filter(pairs, shape, bounds, 0.6, true);
  const auto fixed = next_filter(pairs, shape, bounds, 0.6);
  EXPECT_LT(moved->degree, fixed->degree);
  // In a young basis a cut behind few values, though not among the wanted ones.
  pairs.settled = false;
  EXPECT_DOUBLE_EQ(next_filter(pairs, shape, bounds, 10.0)->interval.lower, 0.4);
}

TEST(DavidsonPlan, CutsRiseThatAreAmongWantedPairsOrGoThroughAClusterOfThem) {
  const DavidsonShape shape{2, 4, 10};
  const SpectrumBounds bounds{0.0, 10.0};
  const auto cut_after = [&](const DavidsonPairs& pairs, double cut) {
    return next_filter(pairs, shape, bounds, cut)->interval.lower;
  };
  const DavidsonPairs even{{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7}, {1e3, 1e3, 1e3}, 0.01};
  EXPECT_DOUBLE_EQ(cut_after(even, 0.25), 0.5);  // before the last wanted value
  EXPECT_DOUBLE_EQ(cut_after(even, 0.35), 0.35);
  // Near the last wanted value beside what follows, in a basis that is as full as it gets; in one that has just
  // been restarted what follows may be anything.
  EXPECT_DOUBLE_EQ(cut_after(even, 0.301), 0.5);
  const DavidsonPairs young{{0.1, 0.2, 0.3, 0.4, 0.5}, {1e3, 1e3, 1e3}, 0.01};
  EXPECT_DOUBLE_EQ(cut_after(young, 0.301), 0.301);
  // All values at hand are copies of one: the last cut is the one that tells them from others.
  const DavidsonPairs copies{{1e-12, 2e-12, 3e-12, 4e-12, 5e-12}, {1e3, 1e3, 1e3}, 1e-7};
  EXPECT_DOUBLE_EQ(cut_after(copies, 0.25), 0.25);
}

TEST(DavidsonPlan, NoticesResidualsThatComeForwardBesideFallingLimits) {
  DavidsonProgress progress(0.0);
  DavidsonPairs pairs{{0.0, 1.0, 2.0}, {1e3, 1e3}, 1.0, 1.0};
  for (int step = 0; step < 20; ++step) {
    EXPECT_FALSE(progress.ends_after(pairs, 3.0)) << step;
    for (double& ratio : pairs.ratios) ratio *= 2.0;
    pairs.largest_residual *= 0.5;
  }
  for (int step = 0; step < 6; ++step) EXPECT_FALSE(progress.ends_after(pairs, 3.0)) << step;
  EXPECT_TRUE(progress.ends_after(pairs, 3.0));
}

}  // namespace
}  // namespace block_eigs
