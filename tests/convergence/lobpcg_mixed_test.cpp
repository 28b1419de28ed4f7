#include "solver/lobpcg/lobpcg_mixed.hpp"
#include "io/generate/generate.hpp"
#include "solver/multigrid/amg.hpp"
#include "solver/multigrid/nested_iteration.hpp"
#include "solver/multigrid/smoothed_aggregation.hpp"
#include "solver/preconditioner/cast_operator.hpp"
#include "solver/preconditioner/chebyshev.hpp"
#include "solver/preconditioner/jacobi.hpp"
#include "tests/support/eigen_problem.hpp"
#include "tests/support/linear_problem.hpp"

// LOBPCG that begins in float: as accurate as in double, and no worse off where float is of no use.
namespace block_eigs {
namespace {

const LaplacianOptions grid{.size = {18, 17, 16}};

std::unique_ptr<MatrixSource> laplacian() { return laplacian3d(Communicator(MPI_COMM_WORLD), grid); }

struct Mixed {
  explicit Mixed(MatrixSource& source) : exact(source), rounded(source) {}

  EigenResult<double> solve(const LobpcgOptions& options, const DenseBlock<double>* constraints = nullptr,
                            DenseBlock<double> initial = {}) {
    return lobpcg_mixed(exact.space, exact.matrix, nullptr, {&counted_float, nullptr}, constraints,
                        std::move(initial), options);
  }
  EigenResult<double> solve_in_double(const LobpcgOptions& options) {
    return lobpcg<double>(exact.space, exact.matrix, nullptr, nullptr, nullptr, {}, options);
  }

  test::Problem<double> exact;
  test::Problem<float> rounded;
  test::CountingOperator<float> counted_float{rounded.matrix};
};

/// Residuals recomputed here, orthonormal vectors, a history that counts everything.
void expect_consistent(Mixed& problem, const EigenResult<double>& result, const LobpcgOptions& options) {
  const DenseBlock<double>& v = result.eigenvectors;
  DenseBlock<double> av = problem.exact.space.make_block(v.cols());
  problem.exact.matrix.apply(v.view(), av.view());
  const auto norms = problem.exact.space.residual(av.view(), v.view(), result.eigenvalues, av.view());
  for (std::size_t j = 0; j < norms.size(); ++j) {
    EXPECT_NEAR(norms[j], result.residual_norms[j], 1e-12);
    if (result.outcomes[j] == Outcome::converged) {
      EXPECT_LE(norms[j], options.tolerance * std::abs(result.eigenvalues[j]) * (1 + 1e-6));
    }
  }
  EXPECT_LT(test::orthogonality_error(problem.exact.space, v), 1e-11);
  EXPECT_EQ(result.history.size(), static_cast<std::size_t>(result.iterations));
  EXPECT_TRUE(std::is_sorted(result.history.begin(), result.history.end(),
                             [](const auto& a, const auto& b) { return a.seconds < b.seconds; }));
}

void expect_values(const EigenResult<double>& result, const std::vector<double>& exact, double accuracy) {
  ASSERT_EQ(result.eigenvalues.size(), exact.size());
  for (std::size_t j = 0; j < exact.size(); ++j) {
    EXPECT_NE(result.outcomes[j], Outcome::not_converged) << j;
    EXPECT_NEAR(result.eigenvalues[j], exact[j], accuracy) << j;
  }
}

TEST(LobpcgMixed, ReachesWhatDoubleReaches) {
  Mixed problem(*laplacian());
  const std::vector<double> exact = closed_form_laplacian_eigenvalues(grid, 9);
  for (const double tolerance : {1e-3, 1e-7, 1e-12}) {
    SCOPED_TRACE(tolerance);
    const LobpcgOptions options{.pairs = 9, .tolerance = tolerance};
    const auto mixed = problem.solve(options);
    const auto plain = problem.solve_in_double(options);
    expect_consistent(problem, mixed, options);
    expect_values(mixed, exact, std::max(tolerance * tolerance, 1e-13));
    EXPECT_EQ(mixed.remark, "");
    EXPECT_LE(mixed.iterations, 3 * plain.iterations / 2);
  }
}

TEST(LobpcgMixed, IterationsInDoubleAreFew) {
  Mixed problem(*laplacian());
  test::CountingOperator<double> counted(problem.exact.matrix);
  const LobpcgOptions options{.pairs = 9, .tolerance = 1e-5};
  const auto result =
      lobpcg_mixed(problem.exact.space, counted, nullptr, {&problem.counted_float, nullptr}, nullptr, {}, options);
  expect_consistent(problem, result, options);
  EXPECT_LT(counted.count, problem.counted_float.count / 2);
  long active = 0;
  for (const auto& iteration : result.history) active += iteration.active_columns;
  const long block = default_block_size(options.pairs);
  // starts in both precisions, the search directions handed over, the final check
  EXPECT_LE(counted.count + problem.counted_float.count, active + 4 * block);
}

TEST(LobpcgMixed, DistancesGoOnFromFloatToDouble) {
  Mixed problem(*laplacian());
  const LobpcgOptions options{.pairs = 9, .tolerance = 1e-11};
  IterationReport before;
  int handed_over = 0;
  const Observer observer = [&](const IterationReport& report) {
    if (before.in_float && !report.in_float) {
      ++handed_over;
      EXPECT_LE(before.worst, 10.0) << "float went as far as it can";
      EXPECT_GT(before.distance, 100.0) << "which is not what counts";
      EXPECT_LT(std::abs(std::log10(report.distance / before.distance)), 1.0);
      EXPECT_EQ(report.iteration, before.iteration + 1);
      EXPECT_GE(report.seconds, before.seconds);
    }
    EXPECT_TRUE(!report.in_float || report.converged == 0);
    before = report;
  };
  lobpcg_mixed(problem.exact.space, problem.exact.matrix, nullptr, {&problem.counted_float, nullptr}, nullptr, {},
               options, observer);
  EXPECT_EQ(handed_over, 1);
  EXPECT_LE(before.distance, 1.0);
}

TEST(LobpcgMixed, PreconditionersAndFiltersWorkInFloat) {
  Mixed problem(*laplacian());
  const std::vector<double> exact = closed_form_laplacian_eigenvalues(grid, 6);
  LobpcgOptions options{.pairs = 6, .tolerance = 1e-9};
  const double bound = problem.exact.matrix.scaled_gershgorin_bound();
  Chebyshev<double> outer(problem.exact.context, problem.exact.matrix, problem.exact.matrix.diagonal(), bound, {});
  Chebyshev<float> inner(problem.rounded.context, problem.rounded.matrix, problem.exact.matrix.diagonal(), bound,
                         {});
  const auto preconditioned = lobpcg_mixed(problem.exact.space, problem.exact.matrix, &outer,
                                           {&problem.counted_float, &inner}, nullptr, {}, options);
  expect_consistent(problem, preconditioned, options);
  expect_values(preconditioned, exact, 1e-13);
  const auto plain = problem.solve(options);
  EXPECT_LT(2 * preconditioned.iterations, plain.iterations);
  options.filtered_start = true;
  const auto filtered = problem.solve(options);
  expect_consistent(problem, filtered, options);
  expect_values(filtered, exact, 1e-13);
  EXPECT_LT(2 * filtered.iterations, plain.iterations);
}

// Within rounding errors of float, residuals of the recursion may rise again by their own force: double goes on at
// once, and does not wait for a lucky iteration.
TEST(LobpcgMixed, DoubleTakesOverWhereRoundingErrorsFeedResiduals) {
  const auto source = laplacian3d(Communicator(MPI_COMM_WORLD), {.size = {48, 48, 48}});
  test::Problem<double> problem(*source);
  const auto in_float = with_precision<float>(problem.context);
  Amg<float> cycle(
      in_float, smoothed_aggregation(problem.context.comm, source->read(problem.partition), problem.partition, {}),
      {});
  CastOperator preconditioner(problem.context, cycle);
  const double rounding = 10.0 * std::numeric_limits<float>::epsilon() * problem.matrix.norm_inf();
  int reached = 0;
  for (const std::uint64_t seed : {2, 3, 4}) {
    const DenseBlock<float> nested = nested_iteration(cycle, 16, seed);
    DenseBlock<double> start = problem.space.make_block(nested.cols());
    in_float.kernels->convert(nested.view(), {}, start.view());
    const auto result =
        lobpcg_mixed(problem.space, problem.matrix, &preconditioner, {cycle.finest_matrix(), &cycle}, nullptr,
                     std::move(start), {.pairs = 16, .tolerance = 1e-6, .seed = seed});
    EXPECT_EQ(result.remark, "");
    double best = std::numeric_limits<double>::infinity();
    int waited = 0;
    for (std::size_t k = 0; k + 1 < result.history.size() && result.history[k + 1].in_float; ++k) {
      const std::vector<double>& norms = result.history[k].residual_norms;
      const double worst = *std::max_element(norms.begin(), norms.end());
      if (best <= 0.8 * rounding && worst >= best) ++waited;
      if (worst <= 0.8 * rounding) ++reached;
      best = std::min(best, worst);
    }
    EXPECT_EQ(waited, 0) << "seed " << seed << ", " << result.iterations << " iterations";
  }
  EXPECT_GT(reached, 0) << "rounding errors were not met";
}

// Pairs 5, 6 and 7 of a cube share an eigenvalue, and 6 and 7 are guard vectors here. Where these rest the fifth
// waits for them: 38 iterations, and 30 all in double.
TEST(LobpcgMixed, PairsThatShareAnEigenvalueWithGuardVectorsDoNotWaitForThem) {
  const auto source = laplacian3d(Communicator(MPI_COMM_WORLD), {.size = {32, 32, 32}});
  test::Problem<double> problem(*source);
  Amg<float> cycle(
      with_precision<float>(problem.context),
      smoothed_aggregation(problem.context.comm, source->read(problem.partition), problem.partition, {}), {});
  CastOperator preconditioner(problem.context, cycle);
  const auto solve = [&](const FloatOperators& in_float) {
    const auto result = lobpcg_mixed(problem.space, problem.matrix, &preconditioner, in_float, nullptr, {},
                                     {.pairs = 5, .tolerance = 1e-10});
    EXPECT_EQ(result.remark, "");
    return result.iterations;
  };
  const int in_double = solve({});
  EXPECT_LE(solve({cycle.finest_matrix(), &cycle}), in_double * 11 / 10);
}

TEST(LobpcgMixed, LargestOnesAndConstraints) {
  Mixed problem(*laplacian());
  const LobpcgOptions largest{.pairs = 4, .which = Which::largest, .tolerance = 1e-8};
  const auto top = problem.solve(largest);
  expect_consistent(problem, top, largest);
  // The spectrum of the grid is symmetric about 6.
  const std::vector<double> exact = closed_form_laplacian_eigenvalues(grid, 7);
  expect_values(top, {12 - exact[0], 12 - exact[1], 12 - exact[2], 12 - exact[3]}, 1e-12);

  const LobpcgOptions options{.pairs = 3, .tolerance = 1e-8};
  const auto known = problem.solve({.pairs = 4, .tolerance = 1e-10});
  const auto others = problem.solve(options, &known.eigenvectors);
  expect_consistent(problem, others, options);
  expect_values(others, {exact[4], exact[5], exact[6]}, 1e-12);
}

TEST(LobpcgMixed, StartsFromGivenVectors) {
  Mixed problem(*laplacian());
  const LobpcgOptions options{.pairs = 6, .tolerance = 1e-6};
  auto first = problem.solve(options);
  const auto again = problem.solve(options, nullptr, std::move(first.eigenvectors));
  expect_consistent(problem, again, options);
  EXPECT_LE(again.iterations, first.iterations / 2);
}

TEST(LobpcgMixed, WindowsAreLeftToDouble) {
  Mixed problem(*laplacian());
  const LobpcgOptions options{.pairs = 20, .tolerance = 1e-6, .block_size = 8};
  const auto result = problem.solve(options);
  expect_consistent(problem, result, options);
  expect_values(result, closed_form_laplacian_eigenvalues(grid, 20), 1e-11);
  EXPECT_EQ(problem.counted_float.count, 0);
  // So is a block without guards, which takes two.
  const auto narrow = problem.solve({.pairs = 9, .tolerance = 1e-6, .block_size = 9});
  expect_values(narrow, closed_form_laplacian_eigenvalues(grid, 9), 1e-11);
  EXPECT_EQ(problem.counted_float.count, 0);
}

TEST(LobpcgMixed, MaxIterationsHoldForBothTogether) {
  Mixed problem(*laplacian());
  for (const int most : {0, 5, 60}) {
    const LobpcgOptions options{.pairs = 6, .tolerance = 1e-11, .max_iterations = most};
    const auto result = problem.solve(options);
    expect_consistent(problem, result, options);
    EXPECT_EQ(result.iterations, most);
    EXPECT_NE(result.remark, "");
  }
}

TEST(LobpcgMixed, MatricesThatFloatCannotHoldAreLeftToDouble) {
  for (const double scale : {1e60, 1e-60}) {
    SCOPED_TRACE(scale);
    test::RuleSource source(200, [&](GlobalIndex i, GlobalIndex j) {
      return scale * (i == j ? 2.0 + 0.01 * static_cast<double>(i) : (std::abs(i - j) == 1 ? -1.0 : 0.0));
    });
    Mixed problem(source);
    const LobpcgOptions options{.pairs = 4, .tolerance = 1e-9};
    const auto mixed = problem.solve(options);
    const auto plain = problem.solve_in_double(options);
    for (std::size_t j = 0; j < 4; ++j) {
      EXPECT_EQ(mixed.outcomes[j], Outcome::converged);
      EXPECT_NEAR(mixed.eigenvalues[j], plain.eigenvalues[j], 1e-12 * scale);
    }
  }
}

TEST(LobpcgMixed, ConditionNumbersBeyondFloat) {
  const auto diagonal = [](GlobalIndex i) { return std::pow(10.0, -9.0 * static_cast<double>(299 - i) / 299.0); };
  test::RuleSource source(300, [&](GlobalIndex i, GlobalIndex j) {
    return i == j ? diagonal(i) : (std::abs(i - j) == 1 ? -0.1 * std::min(diagonal(i), diagonal(j)) : 0.0);
  });
  Mixed problem(source);
  Jacobi<double> outer(problem.exact.context, problem.exact.matrix.diagonal());
  Jacobi<float> inner(problem.rounded.context, problem.rounded.matrix.diagonal());
  const LobpcgOptions options{.pairs = 5, .tolerance = 1e-5};
  const auto mixed = lobpcg_mixed(problem.exact.space, problem.exact.matrix, &outer,
                                  {&problem.counted_float, &inner}, nullptr, {}, options);
  const auto plain =
      lobpcg<double>(problem.exact.space, problem.exact.matrix, nullptr, &outer, nullptr, {}, options);
  expect_consistent(problem, mixed, options);
  EXPECT_LE(mixed.iterations, 2 * plain.iterations);
  for (std::size_t j = 0; j < 5; ++j) {
    EXPECT_EQ(mixed.outcomes[j], Outcome::converged);
    EXPECT_NEAR(mixed.eigenvalues[j], plain.eigenvalues[j], 1e-8 * plain.eigenvalues[j]);
  }
}

TEST(LobpcgMixed, SingularMatrices) {
  // The Laplacian of three rings.
  constexpr GlobalIndex ring = 24;
  test::RuleSource source(3 * ring, [](GlobalIndex i, GlobalIndex j) {
    if (i / ring != j / ring) return 0.0;
    const GlobalIndex apart = std::abs(i - j);
    return apart == 0 ? 2.0 : (apart == 1 || apart == ring - 1 ? -1.0 : 0.0);
  });
  Mixed problem(source);
  const auto result = problem.solve({.pairs = 5, .tolerance = 1e-8});
  const double next = 2.0 - 2.0 * std::cos(2.0 * M_PI / static_cast<double>(ring));
  const std::vector<double> exact{0.0, 0.0, 0.0, next, next};
  for (std::size_t j = 0; j < exact.size(); ++j) {
    EXPECT_NE(result.outcomes[j], Outcome::not_converged);
    EXPECT_NEAR(result.eigenvalues[j], exact[j], 1e-13);
  }
}

// Filters that do not see them yet multiply what they hold of them beyond the range of float; once they are locked
// filters go on with the others.
TEST(LobpcgMixed, PairsFarFromAllOthersDoNotEndFilters) {
  constexpr int n = 12000;
  constexpr int far = 10;
  const auto value = [](GlobalIndex i) { return i < far ? 4.0 : -2.5 + 5.5 * static_cast<double>(i) / n; };
  test::RuleSource source(n, [&](GlobalIndex i, GlobalIndex j) { return i == j ? value(i) : 0.0; });
  Mixed problem(source);
  const LobpcgOptions options{
      .pairs = far + 3, .which = Which::largest, .tolerance = 1e-8, .filtered_start = true};
  const auto result = problem.solve(options);
  expect_consistent(problem, result, options);
  std::vector<double> exact(far, 4.0);
  for (GlobalIndex i = n - 1; i >= n - 3; --i) exact.push_back(value(i));
  expect_values(result, exact, 1e-8);
  EXPECT_LE(result.iterations, 150);  // 107; without filters some 500
}

}  // namespace
}  // namespace block_eigs
