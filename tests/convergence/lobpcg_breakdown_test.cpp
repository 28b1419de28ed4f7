#include <gtest/gtest.h>

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

}  // namespace
}  // namespace block_eigs
