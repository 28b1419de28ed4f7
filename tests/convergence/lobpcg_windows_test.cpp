#include <gtest/gtest.h>

#include <cmath>

#include "io/generate/generate.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "solver/preconditioner/jacobi.hpp"
#include "spmm/error.hpp"
#include "tests/support/eigen_problem.hpp"
#include "tests/support/linear_problem.hpp"

// Hundreds of pairs by windows of columns, and filters: the budget, matrices that are not positive definite, the
// luck of the seed, orthonormality.
namespace block_eigs {
namespace {

const LaplacianOptions grid{.size = {19, 18, 17}};

std::unique_ptr<MatrixSource> laplacian() { return laplacian3d(Communicator(MPI_COMM_WORLD), grid); }

void expect_correct(test::Problem<double>& problem, const EigenResult<double>& result,
                    const std::vector<double>& exact, const LobpcgOptions& options) {
  ASSERT_EQ(result.eigenvalues.size(), exact.size()) << result.remark;
  const DenseBlock<double>& v = result.eigenvectors;
  DenseBlock<double> av = problem.space.make_block(v.cols());
  problem.matrix.apply(v.view(), av.view());
  const auto norms = problem.space.residual(av.view(), v.view(), result.eigenvalues, av.view());
  for (std::size_t j = 0; j < exact.size(); ++j) {
    EXPECT_EQ(result.outcomes[j], Outcome::converged) << j;
    EXPECT_LE(norms[j], options.tolerance * std::abs(result.eigenvalues[j])) << j;
    EXPECT_NEAR(result.eigenvalues[j], exact[j], 1e-8 * std::abs(exact[j])) << j;
  }
  EXPECT_LT(test::orthogonality_error(problem.space, v), 1e-12);
}

TEST(LobpcgWindows, HundredsOfPairsAtDefaultSettings) {
  test::Problem<double> problem(*laplacian());
  LobpcgOptions options{.pairs = 300, .tolerance = 1e-6, .filtered_start = true};
  options.block_size = default_block_size(options.pairs);
  ASSERT_LT(options.block_size, options.pairs);
  const auto result = lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, options);
  expect_correct(problem, result, closed_form_laplacian_eigenvalues(grid, 300), options);
}

TEST(LobpcgWindows, TheIterationLimitIsThatOfEachWindow) {
  test::Problem<double> problem(*laplacian());
  const LobpcgOptions options{.pairs = 120, .tolerance = 1e-6, .max_iterations = 150, .block_size = 24};
  const auto result = lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, options);
  EXPECT_GT(result.iterations, options.max_iterations);
  expect_correct(problem, result, closed_form_laplacian_eigenvalues(grid, 120), options);
}

TEST(LobpcgWindows, FiltersEndWithTheBudget) {
  test::Problem<double> problem(*laplacian());
  for (const int most : {0, 1, 2}) {
    const LobpcgOptions options{.pairs = 6, .tolerance = 1e-9, .max_iterations = most, .filtered_start = true};
    test::CountingOperator<double> counted(problem.matrix);
    long observed = 0;
    const auto result = lobpcg<double>(problem.space, counted, nullptr, nullptr, nullptr, {}, options,
                                       [&](const IterationReport& report) { observed += report.products; });
    EXPECT_EQ(result.iterations, most);
    EXPECT_EQ(result.remark, "max_iterations = " + std::to_string(most) + " reached");
    ASSERT_EQ(result.history.size(), static_cast<std::size_t>(most));
    long products = 2L * default_block_size(options.pairs);  // start and final check
    for (const auto& iteration : result.history) products += iteration.products;
    EXPECT_EQ(counted.count, products);
    EXPECT_EQ(observed, products - 2L * default_block_size(options.pairs));
  }
}

TEST(LobpcgWindows, EverySeedFinishesByFiltersAlone) {
  test::Problem<double> problem(*laplacian());
  const std::vector<double> exact = closed_form_laplacian_eigenvalues(grid, 16);
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    SCOPED_TRACE(seed);
    const LobpcgOptions options{.pairs = 16, .tolerance = 1e-7, .seed = seed, .filtered_start = true};
    const auto result = lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, options);
    expect_correct(problem, result, exact, options);
    EXPECT_LE(result.iterations, 8);
  }
}

/// The Laplacian of the grid less a multiple of the identity: as many eigenvalues below zero as above.
class Shifted final : public LinearOperator<double> {
 public:
  Shifted(test::Problem<double>& problem, double shift) : problem_(problem), shift_(shift) {}
  LocalIndex rows() const override { return problem_.matrix.rows(); }
  LocalIndex columns() const override { return problem_.matrix.columns(); }
  double norm_inf() const override { return problem_.matrix.norm_inf() + shift_; }
  void apply(ConstBlockView<double> x, BlockView<double> y) override {
    problem_.matrix.apply(x, y);
    problem_.context.kernels->axpby(-shift_, x, 1.0, y);
  }

 private:
  test::Problem<double>& problem_;
  double shift_;
};

TEST(LobpcgWindows, FiltersOfIndefiniteMatrices) {
  test::Problem<double> problem(*laplacian());
  constexpr double shift = 3.0;
  Shifted shifted(problem, shift);
  const std::vector<double> exact = closed_form_laplacian_eigenvalues(grid, 8);
  const LobpcgOptions options{.pairs = 8, .tolerance = 1e-8, .filtered_start = true};
  const auto result = lobpcg<double>(problem.space, shifted, nullptr, nullptr, nullptr, {}, options);
  ASSERT_EQ(result.eigenvalues.size(), exact.size()) << result.remark;
  for (std::size_t j = 0; j < exact.size(); ++j) {
    EXPECT_EQ(result.outcomes[j], Outcome::converged) << j;
    EXPECT_NEAR(result.eigenvalues[j], exact[j] - shift, 1e-10) << j;
  }
  EXPECT_LE(result.iterations, 12);
}

// A tolerance beyond all of a band: every vector is done as it comes, no iteration is spent, and the random
// columns of the next windows have to be other ones.
TEST(LobpcgWindows, PairsThatAreDoneAsTheyCome) {
  test::RuleSource source(2000, [](GlobalIndex i, GlobalIndex j) {
    if (i == j) return i >= 1998 ? 1e7 : -1.0 + static_cast<double>(i) / 1000.0;
    return std::abs(i - j) == 1 ? -0.1 : 0.0;
  });
  test::Problem<double> problem(source);
  Jacobi<double> jacobi(problem.context, problem.matrix.jacobi_diagonal());
  LobpcgOptions options{.pairs = 24, .tolerance = 1e-6, .block_size = 3};
  options.convergence = Convergence::norm;
  for (const bool filtered : {false, true}) {
    options.filtered_start = filtered;
    const auto result = lobpcg<double>(problem.space, problem.matrix, nullptr, &jacobi, nullptr, {}, options);
    ASSERT_EQ(result.eigenvalues.size(), 24U) << result.remark;
    for (const Outcome outcome : result.outcomes) EXPECT_EQ(outcome, Outcome::converged);
    EXPECT_LT(test::orthogonality_error(problem.space, result.eigenvectors), 1e-12);
  }
}

TEST(LobpcgWindows, DenseProblemsBeyondTheLimitAreRefused) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto source = laplacian1d(comm, {.size = {30000}});
  test::Problem<double> problem(*source);
  try {
    lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, {.pairs = 7000});
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("at most 6000 pairs"), std::string::npos) << error.what();
  } catch (const RemoteError& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::invalid_input);
  }
}

/// Pairs of A = diag(b value), B = b I, from vectors that are all that the first window holds, with residuals
/// `left` each, within their limits and all along eigenvector 40: locked as they are, what they have left adds up
/// to more than that one is locked at.
struct Contaminated {
  Which which;
  double b;
  double left;
  double (*value)(GlobalIndex);
};

void expect_no_standstill(const Contaminated& given) {
  const double b = given.b;
  test::RuleSource a(3000, [&](GlobalIndex i, GlobalIndex j) { return i == j ? b * given.value(i) : 0.0; });
  test::RuleSource multiple(3000, [b](GlobalIndex i, GlobalIndex j) { return i == j ? b : 0.0; });
  test::Problem<double> problem(a);
  DistributedMatrix<double> mass(problem.context, multiple.read(problem.partition), problem.partition,
                                 problem.partition);
  const LobpcgOptions options{
      .pairs = 60, .which = given.which, .tolerance = 1e-6, .max_iterations = 300, .block_size = 24};
  constexpr GlobalIndex other = 40;
  DenseBlock<double> initial = test::make_rhs(problem.space, options.block_size, [&](GlobalIndex i, int j) {
    if (i == other) return given.left / (given.value(other) - given.value(j));
    return i == j ? 1.0 : 0.0;
  });
  const auto result = lobpcg<double>(problem.space, problem.matrix, b != 1.0 ? &mass : nullptr, nullptr, nullptr,
                                     std::move(initial), options);
  ASSERT_EQ(result.eigenvalues.size(), 60U) << result.remark;
  EXPECT_LT(result.iterations, 400);
  for (int j = 0; j < options.pairs; ++j) {
    const auto at = static_cast<std::size_t>(j);
    EXPECT_EQ(result.outcomes[at], Outcome::converged) << j;
    EXPECT_NEAR(result.eigenvalues[at], given.value(j), 1e-6);
  }
}

double ascending(GlobalIndex i) { return 1001.0 + static_cast<double>(i); }
double descending(GlobalIndex i) {
  return i < 60 ? 4000.0 - 60.0 * static_cast<double>(i) : 300.0 - 0.05 * static_cast<double>(i);
}

TEST(LobpcgWindows, WhatLockedVectorsHaveLeftIsTakenOffByARotation) {
  expect_no_standstill({Which::smallest, 1.0, 0.9e-6 * 1001.0, ascending});
}

TEST(LobpcgWindows, WhatLockedVectorsHaveLeftIsTakenOffByARotationWithMassToo) {
  expect_no_standstill({Which::smallest, 2.0, 0.9e-6 * 1001.0, ascending});
}

TEST(LobpcgWindows, APairWithinItsLimitMayBeHeldByThatOfOthersThatItIsLockedAt) {
  expect_no_standstill({Which::largest, 1.0, 204e-6, descending});
}

}  // namespace
}  // namespace block_eigs
