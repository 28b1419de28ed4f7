#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "apps/choice/eigensolver_choice.hpp"
#include "apps/input/preconditioner.hpp"
#include "tests/support/eigensolver_choice.hpp"
#include "tests/support/matrix_traits.hpp"

// What `auto` does about clusters, mass matrices, full matrices and graphs with hubs.
namespace block_eigs {
namespace {

using test::asked;
using test::choice_for;
using test::diffusion;
using test::iteration;
using test::type_of;

/// `spread` apart in all, with residuals of 1e-6, as Ritz values of the first columns of a wide cluster.
EigensolverChoice after_a_cluster(double spread) {
  MatrixTraits traits = diffusion(4000, 5);
  traits.zero_sums = 0.0;
  EigensolverChoice choice = choice_for(traits, asked());
  std::vector<double> values;
  for (int j = 0; j < 8; ++j) values.push_back(1.0 + spread / 7.0 * j);
  const std::vector<double> residuals(8, 1e-6);
  for (int i = 0; i < 100; ++i) {
    if (!choice.proceed(iteration(100.0, values, residuals))) break;
  }
  return choice;
}

TEST(EigensolverChoice, ClustersNarrowerThanTheToleranceAreWidenedForToo) {
  // A tolerance of 1e-8 does not tell these apart, and yet there may be more of them than columns.
  EigensolverChoice choice = after_a_cluster(1e-9);
  EXPECT_TRUE(choice.change(Limitation::stopped));
  EXPECT_EQ(choice.config().options.block_size, 80);
}

TEST(EigensolverChoice, AWiderBlockWithoutMemoryIsGivenUp) {
  EigensolverChoice choice = after_a_cluster(1e-9);
  EXPECT_FALSE(choice.narrow());
  ASSERT_TRUE(choice.change(Limitation::stopped));
  ASSERT_TRUE(choice.narrow());
  EXPECT_EQ(choice.config().options.block_size, 10);
  EXPECT_FALSE(choice.narrow());
  EXPECT_TRUE(choice.change(Limitation::stopped)) << "it goes on, whatever else there is";
  for (int i = 0; i < 10 && choice.change(Limitation::iterations); ++i)
    EXPECT_EQ(choice.config().options.block_size, 10);
}

TEST(EigensolverChoice, BlocksAreWidenedTwiceForFiltersAndThenGoBack) {
  EigensolverChoice choice = after_a_cluster(1e-9);
  ASSERT_TRUE(choice.change(Limitation::stopped));
  ASSERT_TRUE(choice.change(Limitation::stopped));
  EXPECT_EQ(choice.config().options.block_size, 512);
  EXPECT_TRUE(choice.config().options.filtered_start);
  EXPECT_EQ(type_of(choice), PreconditionerType::none);
  EXPECT_LT(choice.config().options.max_iterations, 50) << "iterations of LOBPCG would take for ever";
  ASSERT_TRUE(choice.change(Limitation::iterations));
  EXPECT_EQ(choice.config().options.block_size, 80);
  EXPECT_GT(choice.config().options.max_iterations, 50);
}

TEST(EigensolverChoice, ACheckpointKnowsWhatWasSeenBeforeTheBlockBecameWider) {
  EigensolverChoice choice = after_a_cluster(1e-9);
  const std::vector<double> seen = choice.state();
  ASSERT_TRUE(choice.change(Limitation::stopped));
  MatrixTraits traits = diffusion(4000, 5);
  traits.zero_sums = 0.0;
  EigensolverChoice resumed = choice_for(traits, asked());
  ASSERT_NE(resumed.state(), seen);
  resumed.resume(choice.state(), choice.config());
  EXPECT_EQ(resumed.state(), choice.state());
  ASSERT_TRUE(choice.narrow());
  ASSERT_TRUE(resumed.narrow());
  EXPECT_EQ(resumed.state(), choice.state());
}

TEST(EigensolverChoice, ValuesThatResidualsDoNotTellApartAreTheLastReasonToWiden) {
  // 1e-3 of the values: no cluster by itself, but as wide as the residuals that nothing brings down.
  MatrixTraits traits = diffusion(4000, 5);
  traits.zero_sums = 0.0;
  for (const double residual : {1e-3, 1e-6}) {
    EigensolverChoice choice = choice_for(traits, asked());
    std::vector<double> values;
    for (int j = 0; j < 8; ++j) values.push_back(1.0 + 1e-3 * j);
    const std::vector<double> residuals(8, residual);
    int changes = 0;
    do {
      for (int i = 0; i < 100; ++i) (void)choice.proceed(iteration(1e5, values, residuals));
    } while (choice.config().options.block_size == 10 && choice.change(Limitation::iterations) && ++changes < 10);
    EXPECT_EQ(choice.config().options.block_size > 10, residual == 1e-3);
    EXPECT_GT(changes, 1) << "other ways come first";
  }
}

EigensolverChoice choice_with_mass(const MassTraits& mass, const MatrixTraits& traits, Which which) {
  const EigensolverConfig config = asked(which);
  return {traits, cost_model(traits, 3e4, 10, 8.0, Backend::host), config, mass};
}

TEST(EigensolverChoice, TheLargestPairsOfAPencilArePreconditionedByItsMass) {
  const MatrixTraits traits = diffusion(8000, 5);
  EigensolverConfig config = choice_with_mass({1e4, 1.0}, traits, Which::largest).config();
  EXPECT_EQ(config.preconditioner.type, PreconditionerType::jacobi);
  EXPECT_EQ(config.preconditioner.of, PreconditionedMatrix::mass);
  config = choice_with_mass({1.0, 1.0}, traits, Which::largest).config();
  EXPECT_EQ(config.preconditioner.type, PreconditionerType::none) << "B is a multiple of I";
  config = choice_with_mass({1e4, 1.0}, traits, Which::smallest).config();
  EXPECT_EQ(config.preconditioner.of, PreconditionedMatrix::matrix);
}

TEST(EigensolverChoice, WhereJacobiOfTheMassIsTooSlowPolynomialsFollow) {
  EigensolverChoice choice = choice_with_mass({1e4, 3.9}, diffusion(8000, 5), Which::largest);
  std::vector<int> degrees;
  for (int i = 0; i < 4 && choice.change(Limitation::iterations); ++i) {
    const PreconditionerConfig taken = choice.config().preconditioner;
    if (taken.type != PreconditionerType::chebyshev) continue;
    EXPECT_EQ(taken.of, PreconditionedMatrix::mass);
    degrees.push_back(taken.chebyshev.degree);
  }
  EXPECT_EQ(degrees, (std::vector<int>{8, 32}));
}

TEST(EigensolverChoice, ACheckpointKnowsWhatAPreconditionerIsMadeOf) {
  const MassTraits mass{1e4, 3.9};
  MatrixTraits indefinite = diffusion(8000, 5);
  indefinite.least_diagonal = indefinite.lower_bound = -1.0;
  for (const Which which : {Which::largest, Which::smallest}) {
    const MatrixTraits& traits = which == Which::largest ? diffusion(8000, 5) : indefinite;
    EigensolverChoice choice = choice_with_mass(mass, traits, which);
    do {
      EigensolverChoice resumed = choice_with_mass(mass, traits, which);
      resumed.resume(choice.state(), choice.config());
      const PreconditionerConfig before = choice.config().preconditioner;
      const PreconditionerConfig after = resumed.config().preconditioner;
      EXPECT_EQ(after.type, before.type);
      EXPECT_EQ(after.of, before.of) << block_eigs::description(before);
      EXPECT_EQ(after.chebyshev.degree, before.chebyshev.degree) << block_eigs::description(before);
    } while (choice.change(Limitation::iterations));
  }
}

TEST(EigensolverChoice, LargestValuesThatStillGrowAreNotJudgedByTheirResiduals) {
  for (const double growth : {1.2, 1.0}) {
    EigensolverChoice choice = choice_with_mass({1e4, 1.0}, diffusion(8000, 5), Which::largest);
    std::vector<double> values(8, 1.0);
    bool goes_on = true;
    for (int i = 0; i < 50 && goes_on; ++i) {
      for (double& value : values) value *= growth;
      goes_on = choice.proceed(iteration(1e7, values, std::vector<double>(8, 0.1)));
    }
    EXPECT_EQ(goes_on, growth > 1.0);
  }
}

/// A full matrix of normal numbers, about.
MatrixTraits full(double rows) {
  MatrixTraits traits;
  traits.rows = traits.longest_row = rows;
  traits.nonzeros = rows * rows;
  traits.least_diagonal = -3.0;
  traits.least_row = traits.norm_inf = rows;
  traits.lower_bound = -rows;
  traits.scaled_norm = 1e3;
  return traits;
}

TEST(EigensolverChoice, SmallFullMatricesAreSolvedDensely) {
  EXPECT_TRUE(choice_for(full(1000), asked()).config().options.dense);
  EXPECT_FALSE(choice_for(full(20000), asked()).config().options.dense);
  EXPECT_FALSE(choice_for(diffusion(1000, 7), asked()).config().options.dense);
  EigensolverConfig never = asked();
  never.options.dense_up_to = 0;
  EXPECT_FALSE(choice_for(full(1000), never).config().options.dense);
  EXPECT_NE(choice_for(full(1000), asked()).description().find("dense"), std::string::npos);
}

TEST(EigensolverChoice, LargerFullMatricesAreSolvedDenselyWhenIterationsAreSlow) {
  EigensolverChoice choice = choice_for(full(2900), asked());
  ASSERT_FALSE(choice.config().options.dense);
  const std::vector<double> values{1, 2, 3, 4, 5, 6, 7, 8}, residuals(8, 0.1);
  for (int i = 0; i < 200 && choice.proceed(iteration(1e6, values, residuals)); ++i) continue;
  for (int i = 0; i < 3 && !choice.config().options.dense; ++i) ASSERT_TRUE(choice.change(Limitation::stopped));
  EXPECT_TRUE(choice.config().options.dense);
}

/// A filter of so many columns and degrees, after which so many pairs are done.
bool filter(EigensolverChoice& choice, int columns, int degrees, int done, double products_to_come) {
  const std::vector<double> values(1000, 1.0), residuals(1000, 1.0);
  IterationReport report = iteration(1e6, values, residuals);
  report.active_columns = columns;
  report.products = columns * degrees;
  report.products_to_come = products_to_come;
  report.converged = done;
  report.wanted = 1000;
  return choice.proceed(report);
}

EigensolverChoice with_windows() {
  EigensolverConfig config = asked();
  config.options.pairs = 1000;
  config.options.block_size = 128;
  return choice_for(diffusion(1.1e5, 7), config, 0.0, Backend::cuda);
}

/// Degrees per window as those of 48^3 points on a GPU: what a window is foreseen to take is no more than its own.
TEST(EigensolverChoice, FiltersOfWindowsAreJudgedByAllOfThem) {
  EigensolverChoice choice = with_windows();
  ASSERT_TRUE(choice.config().options.filtered_start) << choice.description();
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  for (int window = 0; window < 9; ++window) {
    const int done = 115 * window;
    EXPECT_TRUE(filter(choice, 128, 200, done, unknown)) << window;
    EXPECT_TRUE(filter(choice, 128, 150, done, 128 * 150.0)) << window;
    EXPECT_TRUE(filter(choice, 100, 150, std::min(1000, done + 115), 0.0)) << window;
  }
}

TEST(EigensolverChoice, FiltersOfWindowsThatBringNothingAreLeft) {
  EigensolverChoice choice = with_windows();
  int filters = 0;
  while (filters < 100 && filter(choice, 128, 200, 0, std::numeric_limits<double>::quiet_NaN())) ++filters;
  EXPECT_LT(filters, 100);
}

TEST(EigensolverChoice, FiltersBuildABasisOnGpusWhereBlocksAreNarrow) {
  EXPECT_TRUE(builds_basis(FilterKind::automatic, Backend::cuda, 2e6, 20));
  EXPECT_FALSE(builds_basis(FilterKind::automatic, Backend::cuda, 2e6, 166));
  EXPECT_FALSE(builds_basis(FilterKind::automatic, Backend::cuda, 1e5, 20));
  EXPECT_FALSE(builds_basis(FilterKind::automatic, Backend::host, 2e6, 20));
  EXPECT_TRUE(builds_basis(FilterKind::basis, Backend::host, 1e3, 20));
  EXPECT_FALSE(builds_basis(FilterKind::block, Backend::cuda, 2e6, 20));
}

TEST(EigensolverChoice, JacobiForGraphsWithHubs) {
  MatrixTraits traits = diffusion(16384, 13);
  traits.longest_row = 1000.0;
  traits.least_diagonal = 1.0;
  traits.least_row = 2.0;
  traits.norm_inf = 2000.0;
  EXPECT_EQ(type_of(choice_for(traits, asked())), PreconditionerType::jacobi);
}

/// Of 100,000 rows, with such a share of their entries in hubs.
EigensolverChoice choice_with_hubs(double in_hubs) {
  MatrixTraits traits = diffusion(100000, 13);
  traits.longest_row = 10000.0;
  traits.hubs = 1000.0;
  traits.in_hubs = in_hubs;
  traits.least_row = 2.0;
  traits.norm_inf = 20000.0;
  return choice_for(traits, asked());
}

/// The way after so many iterations.
template <class Report>
PreconditionerType type_after(EigensolverChoice choice, int iterations, const Report& report) {
  for (int i = 0; i < iterations; ++i) {
    if (choice.proceed(report(i))) continue;
    (void)choice.change(Limitation::stopped);
    break;
  }
  return type_of(choice);
}

/// What comes after Jacobi, which takes some 300 iterations.
PreconditionerType type_after_slow_jacobi(double in_hubs) {
  const std::vector<double> values{1, 2, 3, 4, 5, 6, 7, 8}, residuals(8, 0.1);
  return type_after(choice_with_hubs(in_hubs), 300,
                    [&](int i) { return iteration(1e6 * std::exp(-i / 22.0), values, residuals); });
}

/// What comes after 25 iterations with Jacobi that hardly come forward.
PreconditionerType type_after_slow_start(double in_hubs) {
  const std::vector<double> values{1, 2, 3, 4, 5, 6, 7, 8}, residuals(8, 0.1);
  return type_after(choice_with_hubs(in_hubs), 25,
                    [&](int i) { return iteration(1e6 * std::exp(-i / 200.0), values, residuals); });
}

/// What comes after the filters that Jacobi begins with, which have 1000 degrees left.
PreconditionerType type_after_long_filters(double in_hubs) {
  return type_after(choice_with_hubs(in_hubs), 20, [](int) {
    IterationReport report = iteration(1e6, {}, {});
    report.products = 25 * report.active_columns;
    report.products_to_come = 1000 * report.active_columns;
    return report;
  });
}

TEST(EigensolverChoice, PolynomialsDoNotTellWantedValuesOfPowerLawGraphsFromOthers) {
  EXPECT_EQ(type_after_slow_jacobi(0.3), PreconditionerType::jacobi);
  EXPECT_EQ(type_after_slow_jacobi(0.01), PreconditionerType::chebyshev) << "a mesh with a hub in it";
  EXPECT_EQ(type_after_slow_start(0.3), PreconditionerType::jacobi);
  EXPECT_NE(type_after_slow_start(0.01), PreconditionerType::jacobi);
  EXPECT_EQ(type_after_long_filters(0.3), PreconditionerType::jacobi);
  EXPECT_EQ(type_after_long_filters(0.01), PreconditionerType::chebyshev) << "a mesh with a hub in it";
}

}  // namespace
}  // namespace block_eigs
