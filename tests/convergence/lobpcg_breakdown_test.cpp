#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "solver/lobpcg/lobpcg.hpp"
#include "solver/preconditioner/jacobi.hpp"
#include "spmm/error.hpp"
#include "tests/support/eigen_problem.hpp"
#include "tests/support/linear_problem.hpp"

// Where nothing is left of X, or there is no Rayleigh quotient.
namespace block_eigs {
namespace {

template <class T>
void expect_all_ones(bool preconditioned) {
  test::RuleSource identity(150, [](GlobalIndex i, GlobalIndex j) { return i == j ? 1.0 : 0.0; });
  test::Problem<T> problem(identity);
  Jacobi<T> jacobi(problem.context, problem.matrix.diagonal());
  const LobpcgOptions options{.pairs = 20, .tolerance = 1e-4, .block_size = 7};
  const auto result =
      lobpcg<T>(problem.space, problem.matrix, nullptr, preconditioned ? &jacobi : nullptr, nullptr, {}, options);
  ASSERT_EQ(result.eigenvalues.size(), 20U) << result.remark;
  for (std::size_t j = 0; j < result.eigenvalues.size(); ++j) {
    EXPECT_NE(result.outcomes[j], Outcome::not_converged) << j;
    EXPECT_NEAR(result.eigenvalues[j], 1.0, 10.0 * std::numeric_limits<T>::epsilon());
  }
  EXPECT_LT(test::orthogonality_error(problem.space, result.eigenvectors),
            1e3 * std::numeric_limits<T>::epsilon());
}

TEST(LobpcgBreakdown, AWindowMayConvergeAsAWhole) {
  for (const bool preconditioned : {false, true}) {
    expect_all_ones<double>(preconditioned);
    expect_all_ones<float>(preconditioned);
  }
}

TEST(LobpcgBreakdown, ProductsThatOverflowAreAnError) {
  constexpr double beyond_float = 1e39;
  test::RuleSource huge(120, [](GlobalIndex i, GlobalIndex j) { return i == j ? beyond_float : 0.0; });
  test::Problem<float> problem(huge);
  for (const bool filtered : {false, true}) {
    const LobpcgOptions options{.pairs = 4, .tolerance = 1e-4, .filtered_start = filtered};
    EXPECT_THROW(lobpcg<float>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, options),
                 NumericalError);
  }
}

/// A star: one eigenvalue far below all others, whose growth under a filter takes it out of float's range.
TEST(LobpcgBreakdown, FiltersMayOverflow) {
  constexpr int leaves = 287;
  test::RuleSource star(leaves + 1, [](GlobalIndex i, GlobalIndex j) { return (i == 0) != (j == 0) ? 1.0 : 0.0; });
  test::Problem<float> problem(star);
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    const LobpcgOptions options{.pairs = 1, .tolerance = 1e-5, .seed = seed, .filtered_start = true};
    const auto result = lobpcg<float>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, options);
    ASSERT_EQ(result.eigenvalues.size(), 1U) << result.remark;
    EXPECT_NE(result.outcomes[0], Outcome::not_converged);
    EXPECT_NEAR(result.eigenvalues[0], -std::sqrt(leaves), 1e-3);
  }
}

/// H D H, D from 1 down to 1 / condition, H the reflection that takes (1, ..., 1) to its negative.
test::RuleSource::Rule reflected_diagonal(int n, double condition) {
  return [=](GlobalIndex i, GlobalIndex j) {
    const auto entry = [&](GlobalIndex k) { return std::pow(condition, -static_cast<double>(k) / (n - 1)); };
    double mean = 0.0;
    for (int k = 0; k < n; ++k) mean += entry(k) / n;
    return (i == j ? entry(i) : 0.0) - 2.0 / n * (entry(i) + entry(j)) + 4.0 / n * mean;
  };
}

TEST(LobpcgBreakdown, VectorsAreOrthonormalInABadlyConditionedMass) {
  constexpr int n = 52;
  test::RuleSource star(n, [](GlobalIndex i, GlobalIndex j) { return (i == 0) != (j == 0) ? 1.0 : 0.0; });
  test::Problem<double> problem(star);
  test::RuleSource source(n, reflected_diagonal(n, 1e7));
  DistributedMatrix<double> b(problem.context, source.read(problem.partition), problem.partition,
                              problem.partition);
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    const LobpcgOptions options{
        .pairs = 8, .tolerance = 1e-9, .convergence = Convergence::norm, .seed = seed, .dense_up_to = 0};
    const auto result = lobpcg<double>(problem.space, problem.matrix, &b, nullptr, nullptr, {}, options);
    const DenseBlock<double>& v = result.eigenvectors;
    DenseBlock<double> bv = problem.space.make_block(v.cols());
    b.apply(v.view(), bv.view());
    SmallMatrix gram;
    problem.space.gram({v.view()}, {bv.view()}, gram);
    double most = 0.0;
    for (int j = 0; j < gram.cols(); ++j) {
      for (int i = 0; i < gram.rows(); ++i) most = std::max(most, std::abs(gram(i, j) - (i == j ? 1.0 : 0.0)));
    }
    EXPECT_LT(most, 1e-11) << result.remark;
  }
}

/// B x = x / lambda: residuals that are small beside ||B|| ||x|| come long before the values, after seven
/// iterations, when these are thousands of times too small.
TEST(LobpcgBreakdown, ValuesComeToRestInABadlyConditionedMass) {
  constexpr int n = 220;
  constexpr double condition = 1e6;
  test::RuleSource identity(n, [](GlobalIndex i, GlobalIndex j) { return i == j ? 1.0 : 0.0; });
  test::Problem<double> problem(identity);
  test::RuleSource source(n, reflected_diagonal(n, condition));
  DistributedMatrix<double> b(problem.context, source.read(problem.partition), problem.partition,
                              problem.partition);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    const LobpcgOptions options{.pairs = 6,
                                .which = Which::largest,
                                .tolerance = 1e-3,
                                .convergence = Convergence::norm,
                                .max_iterations = 5000,
                                .seed = seed,
                                .dense_up_to = 0};
    const auto result = lobpcg<double>(problem.space, problem.matrix, &b, nullptr, nullptr, {}, options);
    for (std::size_t j = 0; j < result.eigenvalues.size(); ++j) {
      const double exact = std::pow(condition, 1.0 - static_cast<double>(j) / (n - 1));
      EXPECT_GT(result.eigenvalues[j], 0.25 * exact) << j << " after " << result.iterations;
    }
  }
}

}  // namespace
}  // namespace block_eigs
