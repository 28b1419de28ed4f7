#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "io/generate/generate.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "solver/lobpcg/spectrum_estimate.hpp"
#include "tests/support/eigen_problem.hpp"
#include "tests/support/linear_problem.hpp"
#include "tests/support/turned_diagonal.hpp"

// Filters for either end of spectra that do not begin at zero, or have one value far from all others.
namespace block_eigs {
namespace {

const LaplacianOptions grid{.size = {19, 18, 17}};

std::unique_ptr<MatrixSource> laplacian() { return laplacian3d(Communicator(MPI_COMM_WORLD), grid); }

/// A + shift I, with a known norm.
class Raised final : public LinearOperator<double> {
 public:
  Raised(test::Problem<double>& problem, double shift) : problem_(problem), shift_(shift) {}
  LocalIndex rows() const override { return problem_.matrix.rows(); }
  LocalIndex columns() const override { return problem_.matrix.columns(); }
  void apply(ConstBlockView<double> x, BlockView<double> y) override {
    problem_.matrix.apply(x, y);
    problem_.space.kernels().axpby(shift_, x, 1.0, y);
  }
  double norm_inf() const override { return problem_.matrix.norm_inf() + std::abs(shift_); }

 private:
  test::Problem<double>& problem_;
  double shift_;
};

EigenResult<double> filtered(test::Problem<double>& problem, LinearOperator<double>& a, Which which) {
  const LobpcgOptions options{.pairs = 8, .which = which, .tolerance = 1e-9, .filtered_start = true};
  return lobpcg<double>(problem.space, a, nullptr, nullptr, nullptr, {}, options);
}

TEST(LobpcgFilters, UpperEnd) {
  test::Problem<double> problem(*laplacian());
  const auto result = filtered(problem, problem.matrix, Which::largest);
  // The spectrum of a bipartite grid is symmetric about the diagonal.
  const std::vector<double> lowest = closed_form_laplacian_eigenvalues(grid, 8);
  ASSERT_EQ(result.eigenvalues.size(), lowest.size()) << result.remark;
  for (std::size_t j = 0; j < lowest.size(); ++j) {
    EXPECT_EQ(result.outcomes[j], Outcome::converged) << j;
    EXPECT_NEAR(result.eigenvalues[j], 12.0 - lowest[j], 1e-9) << j;
  }
  EXPECT_LE(result.iterations, 12);
}

TEST(LobpcgFilters, SpectrumFarFromZero) {
  test::Problem<double> problem(*laplacian());
  const std::vector<double> exact = closed_form_laplacian_eigenvalues(grid, 8);
  for (const double shift : {1e3, -1e3}) {
    Raised raised(problem, shift);
    const LobpcgOptions options{
        .pairs = 8, .tolerance = 1e-8, .convergence = Convergence::absolute, .filtered_start = true};
    const auto result = lobpcg<double>(problem.space, raised, nullptr, nullptr, nullptr, {}, options);
    ASSERT_EQ(result.eigenvalues.size(), exact.size()) << result.remark;
    for (std::size_t j = 0; j < exact.size(); ++j) {
      EXPECT_EQ(result.outcomes[j], Outcome::converged) << j;
      EXPECT_NEAR(result.eigenvalues[j], exact[j] + shift, 1e-8) << j;
    }
    EXPECT_LE(result.iterations, 15) << shift;
  }
}

// A spectrum of which nothing lies near zero, where the norm leads to expect its end: the first filter cuts below
// all of it.
TEST(LobpcgFilters, BandsFarFromZero) {
  constexpr GlobalIndex n = 4000;
  const auto value = [](GlobalIndex i) { return 0.3 + 1.7 * std::pow(static_cast<double>(i) / n, 2.0 / 3.0); };
  test::RuleSource source(n, [&](GlobalIndex i, GlobalIndex j) { return i == j ? value(i) : 0.0; });
  test::Problem<double> problem(source);
  for (const bool basis : {false, true}) {
    SCOPED_TRACE(basis);
    const LobpcgOptions options{.pairs = 6, .tolerance = 1e-8, .filtered_start = true, .filter_basis = basis};
    const auto result = lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, options);
    ASSERT_EQ(result.eigenvalues.size(), 6U) << result.remark;
    for (std::size_t j = 0; j < 6; ++j) {
      EXPECT_EQ(result.outcomes[j], Outcome::converged) << j;
      EXPECT_NEAR(result.eigenvalues[j], value(static_cast<GlobalIndex>(j)), 1e-8) << j;
    }
    EXPECT_LE(result.iterations, 20);  // 6 and 14; LOBPCG alone 130 and 180
  }
}

void expect_values(const EigenResult<double>& result, const std::vector<double>& exact) {
  ASSERT_GE(exact.size(), result.eigenvalues.size());
  for (std::size_t j = 0; j < result.eigenvalues.size(); ++j) {
    EXPECT_EQ(result.outcomes[j], Outcome::converged) << j;
    EXPECT_NEAR(result.eigenvalues[j], exact[j], 1e-8) << j;
  }
}

/// By filters of a block, and by those that make a basis.
void expect_smallest(std::vector<double> values, int pairs, int most_iterations, int block_size = 0) {
  test::RuleSource source = test::turned_diagonal(values);
  test::Problem<double> problem(source);
  std::sort(values.begin(), values.end());
  for (const bool basis : {false, true}) {
    SCOPED_TRACE(basis);
    LobpcgOptions options{
        .pairs = pairs, .tolerance = 1e-8, .dense_up_to = 0, .filtered_start = true, .filter_basis = basis};
    options.block_size = block_size;
    const auto result = lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, options);
    ASSERT_EQ(result.eigenvalues.size(), static_cast<std::size_t>(pairs)) << result.remark;
    expect_values(result, values);
    EXPECT_LE(result.iterations, most_iterations);
  }
}

// Filters that cut below what is wanted damp it like all else, and many of them leave nothing of it: all of 1.0,
// which is exact, was taken for the smallest pairs.
TEST(LobpcgFilters, ABandBehindTheMiddleBesideAMultipleValue) {
  std::vector<double> values(120, 1.0);
  for (std::size_t i = 0; i < 60; ++i) values[i] = 0.552 + 0.0055 * static_cast<double>(i) / 59.0;
  expect_smallest(values, 10, 60);
}

TEST(LobpcgFilters, AFewBelowABandBehindTheMiddle) {
  std::vector<double> values(4000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.7 + 0.3 * static_cast<double>(i) / 4000.0;
  for (std::size_t i = 0; i < 6; ++i) values[300 * i] = std::vector{0.02, 0.001, 0.005, 0.003, 0.015, 0.01}[i];
  expect_smallest(values, 10, 80);  // LOBPCG after some filters 350 and 400
}

// Bound states of impurities, or what stands for the communities of a graph: the first filters see nothing else.
TEST(LobpcgFilters, AFewFarBelowAllOthers) {
  std::vector<double> values(4000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 8.0 * (static_cast<double>(i) + 1.0) / 4000.0;
  values[700] = -50.0;  // LOBPCG after some filters of a block 400, and 480 below
  expect_smallest(values, 10, 30);
  values[2300] = -5.0;
  expect_smallest(values, 10, 30);
  values[300] = -8.0;
  values[1500] = -20.0;
  expect_smallest(values, 10, 30);
}

// What far ones are apart says nothing of where a later window ends.
TEST(LobpcgFilters, WindowsAfterAFewFarBelowAllOthers) {
  std::vector<double> values(4000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 8.0 * (static_cast<double>(i) + 1.0) / 4000.0;
  values[700] = -50.0;
  values[2300] = -20.0;
  expect_smallest(values, 50, 60, 32);
}

// What is known may lie anywhere, and grows in filters for the others more than these do. Given vectors are locked
// at once.
TEST(LobpcgFilters, WhatIsKnownLiesFarBelow) {
  constexpr std::size_t n = 4000;
  std::vector<double> values(n, -1.0);
  for (std::size_t i = 1; i < n; ++i)  // a narrow band first, so that filters are long
    values[i] = i <= 400 ? 0.02 + 5e-5 * static_cast<double>(i) : 0.05 + 0.95 * static_cast<double>(i - 400) / n;
  test::RuleSource source = test::turned_diagonal(values);
  test::Problem<double> problem(source);
  DenseBlock<double> known = problem.space.make_block(1);
  std::vector<double> own(static_cast<std::size_t>(problem.space.local_rows()), 0.0);
  const GlobalIndex begin = problem.partition.begin(problem.comm.rank());
  for (std::size_t i = 0; i < own.size(); ++i) {
    const GlobalIndex row = begin + static_cast<GlobalIndex>(i);
    own[i] = row == 0 ? test::turn_cosine : row == n / 2 ? test::turn_sine : 0.0;
  }
  known.from_host(own.data());
  const std::vector<double> others(values.begin() + 1, values.end());
  for (const bool basis : {false, true}) {
    SCOPED_TRACE(basis);
    LobpcgOptions options{.pairs = 10, .tolerance = 1e-8, .filtered_start = true, .filter_basis = basis};
    const auto result = lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, &known, {}, options);
    ASSERT_EQ(result.eigenvalues.size(), 10U) << result.remark;
    expect_values(result, others);
    EXPECT_LE(result.iterations, 40);  // 360 and more where it is not taken out
    DenseBlock<double> initial = problem.space.make_block(1);
    problem.space.copy(known.view(), initial.view());
    ++options.pairs;
    const auto all =
        lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr, std::move(initial), options);
    ASSERT_EQ(all.eigenvalues.size(), 11U) << all.remark;
    expect_values(all, values);
    EXPECT_LE(all.iterations, 40);
  }
}

TEST(LobpcgFilters, TheEstimateHoldsTheSpectrum) {
  test::Problem<double> problem(*laplacian());
  Panel<double> v(problem.space, 1), before(problem.space, 1), image(problem.space, 1);
  const double lowest = closed_form_laplacian_eigenvalues(grid, 1)[0];
  for (const std::uint64_t seed : {1, 2, 3}) {
    const SpectrumEstimate found = estimate_spectrum(problem.space, problem.matrix, 12.0, seed, v, before, image);
    EXPECT_LE(found.lowest - found.margin, lowest);
    EXPECT_GE(found.highest + found.margin, 12.0 - lowest);
    EXPECT_GT(found.lowest, lowest);
    EXPECT_LT(found.highest + found.margin, 18.0);
  }
}

}  // namespace
}  // namespace block_eigs
