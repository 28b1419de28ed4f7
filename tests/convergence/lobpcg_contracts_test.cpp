#include <gtest/gtest.h>

#include <cmath>

#include "io/generate/generate.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "solver/preconditioner/jacobi.hpp"
#include "spmm/error.hpp"
#include "tests/support/eigen_problem.hpp"

// What lobpcg promises beside the eigenvalues.
namespace block_eigs {
namespace {

using test::CountingOperator;
using test::Problem;

const LaplacianOptions grid{.size = {14, 13, 12}};

std::unique_ptr<MatrixSource> laplacian() { return laplacian3d(Communicator(MPI_COMM_WORLD), grid); }

LobpcgOptions options_for(int pairs, double tolerance) {
  LobpcgOptions options;
  options.pairs = pairs;
  options.tolerance = tolerance;
  return options;
}

TEST(LobpcgContracts, MultipliesOneColumnPerActiveVectorAndIteration) {
  Problem<double> problem(*laplacian());
  Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
  CountingOperator<double> counted(problem.matrix);
  const LobpcgOptions options = options_for(12, 1e-7);
  const auto result = lobpcg<double>(problem.space, counted, nullptr, &jacobi, nullptr, {}, options);
  long active = 0;
  for (const auto& iteration : result.history) active += iteration.active_columns;
  const long block = default_block_size(options.pairs);
  EXPECT_EQ(counted.count, active + block /* start */ + block /* final check */);
  EXPECT_LT(active, result.iterations * block);  // locking has made the block narrower
}

TEST(LobpcgContracts, ResidualNormsAreThoseOfTheVectorsReturned) {
  Problem<double> problem(*laplacian());
  const LobpcgOptions options = options_for(5, 1e-6);
  const auto result = lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, options);
  DenseBlock<double> ax = problem.space.make_block(5);
  problem.matrix.apply(result.eigenvectors.view(), ax.view());
  const auto norms = problem.space.residual(ax.view(), result.eigenvectors.view(), result.eigenvalues, ax.view());
  for (std::size_t j = 0; j < norms.size(); ++j) {
    EXPECT_NEAR(norms[j], result.residual_norms[j], 1e-12);
    EXPECT_LE(norms[j], options.tolerance * result.eigenvalues[j] * (1 + 1e-9));
  }
}

TEST(LobpcgContracts, StartingFromTheAnswerTakesNoIteration) {
  Problem<double> problem(*laplacian());
  const LobpcgOptions options = options_for(6, 1e-8);
  auto first = lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, options);
  const auto second = lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr,
                                     std::move(first.eigenvectors), options);
  EXPECT_LE(second.iterations, 1);
  for (std::size_t j = 0; j < 6; ++j) EXPECT_NEAR(second.eigenvalues[j], first.eigenvalues[j], 1e-12);
}

TEST(LobpcgContracts, ConstraintsAreKeptOutOfTheResult) {
  Problem<double> problem(*laplacian());
  auto lowest =
      lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, options_for(4, 1e-11));
  const auto next = lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, &lowest.eigenvectors, {},
                                   options_for(3, 1e-8));
  const auto exact = closed_form_laplacian_eigenvalues(grid, 7);
  for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(next.eigenvalues[j], exact[j + 4], 1e-12 * exact[j + 4]);
}

TEST(LobpcgContracts, AnImpossibleToleranceEndsAtTheAccuracyLimit) {
  Problem<double> problem(*laplacian());
  const auto result =
      lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, options_for(3, 1e-18));
  for (const Outcome outcome : result.outcomes) EXPECT_EQ(outcome, Outcome::at_accuracy_limit);
}

TEST(LobpcgContracts, IterationsUsedUpAreSaid) {
  Problem<double> problem(*laplacian());
  LobpcgOptions options = options_for(4, 1e-10);
  options.max_iterations = 3;
  options.dense_up_to = 0;
  const auto result = lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, options);
  EXPECT_EQ(result.iterations, 3);
  EXPECT_EQ(result.outcomes.front(), Outcome::not_converged);
  EXPECT_NE(result.remark.find("max_iterations"), std::string::npos) << result.remark;
}

/// -1 times the identity: no preconditioner.
class Negative final : public LinearOperator<double> {
 public:
  explicit Negative(Context<double> context, LocalIndex rows) : context_(std::move(context)), rows_(rows) {}
  LocalIndex rows() const override { return rows_; }
  LocalIndex columns() const override { return rows_; }
  void apply(ConstBlockView<double> x, BlockView<double> y) override { context_.kernels->axpby(-1.0, x, 0.0, y); }

 private:
  Context<double> context_;
  LocalIndex rows_;
};

TEST(LobpcgContracts, AnIndefinitePreconditionerIsNamed) {
  Problem<double> problem(*laplacian());
  Negative negative(problem.context, problem.space.local_rows());
  LobpcgOptions options = options_for(2, 1e-8);
  options.dense_up_to = 0;
  const auto result = lobpcg<double>(problem.space, problem.matrix, nullptr, &negative, nullptr, {}, options);
  EXPECT_EQ(result.limitation, Limitation::preconditioner);
  EXPECT_NE(result.remark.find("not positive definite"), std::string::npos) << result.remark;
  EXPECT_EQ(result.outcomes.front(), Outcome::not_converged);
}

TEST(LobpcgContracts, MorePairsThanRowsIsAnError) {
  Problem<double> problem(*laplacian());
  EXPECT_ANY_THROW(
      lobpcg<double>(problem.space, problem.matrix, nullptr, nullptr, nullptr, {}, options_for(99999, 1)));
}

}  // namespace
}  // namespace block_eigs
