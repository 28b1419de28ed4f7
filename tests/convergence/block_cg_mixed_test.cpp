#include "solver/block_cg/block_cg_mixed.hpp"
#include "io/generate/generate.hpp"
#include "solver/preconditioner/chebyshev.hpp"
#include "tests/support/linear_problem.hpp"

// Rounds in float under block CG in double: as accurate, and no worse off where float is of no use.
namespace block_eigs {
namespace {

struct Mixed {
  explicit Mixed(MatrixSource& source) : exact(source), rounded(source) {}

  BlockCgResult<double> solve(const DenseBlock<double>& f, const BlockCgOptions& options,
                              DenseBlock<double> initial = {}, LinearOperator<float>* inner = nullptr) {
    return block_cg_mixed(exact.space, exact.matrix, nullptr, rounded.matrix, inner, f, std::move(initial),
                          options);
  }

  test::Problem<double> exact;
  test::Problem<float> rounded;
};

TEST(BlockCgMixed, ReachesWhatDoubleReaches) {
  const Communicator comm(MPI_COMM_WORLD);
  Mixed problem(*laplacian3d(comm, {.size = {15, 14, 13}}));
  const DenseBlock<double> f = test::random_rhs(problem.exact.space, 11);
  for (const double tolerance : {1e-3, 1e-8, 1e-13}) {
    SCOPED_TRACE(tolerance);
    const BlockCgOptions options{.tolerance = tolerance, .block_size = 6};
    const auto mixed = problem.solve(f, options);
    const auto plain = block_cg<double>(problem.exact.space, problem.exact.matrix, nullptr, f, {}, options);
    test::expect_consistent(problem.exact, f, mixed, options);
    EXPECT_EQ(mixed.remark, "");
    EXPECT_LE(mixed.total_iterations, 2 * plain.total_iterations);
    EXPECT_EQ(mixed.history.size(), static_cast<std::size_t>(mixed.total_iterations));
  }
}

TEST(BlockCgMixed, IterationsInDoubleAreFew) {
  const Communicator comm(MPI_COMM_WORLD);
  Mixed problem(*laplacian3d(comm, {.size = {20, 20, 20}}));
  test::CountingOperator<double> counted(problem.exact.matrix);
  const DenseBlock<double> f = test::random_rhs(problem.exact.space, 8);
  const BlockCgOptions options{.tolerance = 1e-8};
  const auto result =
      block_cg_mixed(problem.exact.space, counted, nullptr, problem.rounded.matrix, nullptr, f, {}, options);
  test::expect_consistent(problem.exact, f, result, options);
  EXPECT_GT(result.total_iterations, 20);
  // a product a round, and one for the truth at the end
  EXPECT_LE(counted.count, 8 * 5);
}

TEST(BlockCgMixed, PreconditionersOfTheRoundsAreInFloat) {
  const Communicator comm(MPI_COMM_WORLD);
  Mixed problem(*laplacian3d(comm, {.size = {15, 14, 13}}));
  Chebyshev<float> chebyshev(problem.rounded.context, problem.rounded.matrix, problem.exact.matrix.diagonal(),
                             problem.exact.matrix.scaled_gershgorin_bound(), {});
  const DenseBlock<double> f = test::random_rhs(problem.exact.space, 5);
  const BlockCgOptions options{.tolerance = 1e-10};
  const auto with = problem.solve(f, options, {}, &chebyshev);
  const auto without = problem.solve(f, options);
  test::expect_consistent(problem.exact, f, with, options);
  EXPECT_LT(2 * with.total_iterations, without.total_iterations);
}

TEST(BlockCgMixed, ConditionNumbersBeyondFloatAreLeftToDouble) {
  test::RuleSource source(300, [](GlobalIndex i, GlobalIndex j) {
    return i == j ? std::pow(10.0, -10.0 * static_cast<double>(i) / 299.0) : 0.0;
  });
  Mixed problem(source);
  const DenseBlock<double> f = test::random_rhs(problem.exact.space, 3);
  const BlockCgOptions options{.tolerance = 1e-8, .max_iterations = 3000};
  const auto result = problem.solve(f, options);
  test::expect_consistent(problem.exact, f, result, options);
}

TEST(BlockCgMixed, ZeroColumnsAndFinishedOnesTakeNoIterations) {
  const Communicator comm(MPI_COMM_WORLD);
  Mixed problem(*laplacian3d(comm, {.size = {9, 8, 7}}));
  DenseBlock<double> f = test::random_rhs(problem.exact.space, 4);
  problem.exact.space.kernels().fill(f.columns(2, 1), 0.0);
  const BlockCgOptions options{.tolerance = 1e-9};
  auto first = problem.solve(f, options);
  test::expect_consistent(problem.exact, f, first, options);
  EXPECT_EQ(first.iterations[2], 0);
  const auto again = problem.solve(f, options, std::move(first.solution));
  test::expect_consistent(problem.exact, f, again, options);
  EXPECT_EQ(again.total_iterations, 0);
}

TEST(BlockCgMixed, AnIndefiniteMatrixIsNamed) {
  test::RuleSource source(200, [](GlobalIndex i, GlobalIndex j) {
    return i == j ? (i % 5 == 0 ? -1.0 : 2.0) + 0.01 * static_cast<double>(i) : 0.0;
  });
  Mixed problem(source);
  const DenseBlock<double> f = test::random_rhs(problem.exact.space, 3);
  const auto result = problem.solve(f, {.tolerance = 1e-8});
  EXPECT_NE(result.remark, "");
  for (const double norm : result.residual_norms) EXPECT_TRUE(std::isfinite(norm));
}

}  // namespace
}  // namespace block_eigs
