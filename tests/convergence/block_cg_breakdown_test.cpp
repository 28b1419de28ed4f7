#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "io/formats/matrix_file.hpp"
#include "io/generate/generate.hpp"
#include "solver/preconditioner/jacobi.hpp"
#include "spmm/error.hpp"
#include "tests/support/diagonal_operator.hpp"
#include "tests/support/linear_problem.hpp"

// Matrices that conjugate gradients are not made for are recognised and named; nothing comes out as solved that is
// not.
namespace block_eigs {
namespace {

using test::Problem;
using ::testing::Test;

/// In [-1, 1), without order.
double noise(GlobalIndex i, int j) {
  return 2.0 * static_cast<double>((i + 1) * (j + 3) * 48271 % 65537) / 65537 - 1.0;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

int count(const BlockCgResult<double>& result, Outcome outcome) {
  return static_cast<int>(std::count(result.outcomes.begin(), result.outcomes.end(), outcome));
}

TEST(BlockCgBreakdown, AnIndefiniteMatrixIsNamed) {
  // Eigenvalues -1 + 2 - 2 cos(...): some are negative.
  test::RuleSource source(150, [](GlobalIndex i, GlobalIndex j) {
    return i == j ? 1.0 : std::abs(i - j) == 1 ? -1.0 : 0.0;
  });
  Problem<double> problem(source);
  Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
  for (LinearOperator<double>* preconditioner :
       {static_cast<LinearOperator<double>*>(nullptr), static_cast<LinearOperator<double>*>(&jacobi)}) {
    for (const int sides : {1, 4, 16}) {
      const DenseBlock<double> f = test::random_rhs(problem.space, sides);
      const auto result = block_cg<double>(problem.space, problem.matrix, preconditioner, f, {}, {});
      test::expect_consistent(problem, f, result, {});
      EXPECT_GT(count(result, Outcome::not_converged), 0);
      EXPECT_TRUE(contains(result.remark, "not positive definite")) << result.remark;
      for (std::size_t j = 0; j < result.outcomes.size(); ++j) {
        EXPECT_LE(result.residual_norms[j], result.rhs_norms[j] * (1 + 1e-12));
      }
    }
  }
}

TEST(BlockCgBreakdown, ADirectionWithoutCurvatureThatIsNoNullVectorIsProofOfAnIndefiniteMatrix) {
  // Pairs of unknowns [0 1; 1 0]: eigenvalues 1 and -1; f is one of each pair, f^T A f = 0 and A f the other.
  test::RuleSource source(120, [](GlobalIndex i, GlobalIndex j) { return (i ^ j) == 1 ? 1.0 : 0.0; });
  Problem<double> problem(source);
  const DenseBlock<double> f =
      test::make_rhs(problem.space, 1, [](GlobalIndex i, LocalIndex) { return i % 2 == 0 ? 1.0 : 0.0; });
  const auto result = block_cg<double>(problem.space, problem.matrix, nullptr, f, {}, {});
  EXPECT_EQ(result.findings.end, BlockCgEnd::indefinite_matrix) << result.remark;
  EXPECT_TRUE(contains(result.remark, "p'Ap = 0, though A p is not zero")) << result.remark;
}

TEST(BlockCgBreakdown, MinusAPositiveDefiniteMatrixIsNamedAtOnce) {
  test::RuleSource source(40, [](GlobalIndex i, GlobalIndex j) {
    return i == j ? -3.0 : std::abs(i - j) == 1 ? 1.0 : 0.0;
  });
  Problem<double> problem(source);
  const DenseBlock<double> f = test::random_rhs(problem.space, 3);
  const auto result = block_cg<double>(problem.space, problem.matrix, nullptr, f, {}, {});
  EXPECT_TRUE(contains(result.remark, "not positive definite")) << result.remark;
  EXPECT_EQ(result.total_iterations, 0);
}

/// A diagonal preconditioner, the first `others` of whose entries are `value`, all else one.
template <class T>
test::DiagonalOperator<T> first_entries(const Problem<T>& problem, GlobalIndex others, double value) {
  return {problem.space, [=](GlobalIndex i) { return i < others ? value : 1.0; }};
}

template <class T>
void expect_preconditioner_named(GlobalIndex others, double value, const std::string& words) {
  const Communicator comm(MPI_COMM_WORLD);
  Problem<T> problem(*laplacian3d(comm, {.size = {6, 6, 6}}));
  test::DiagonalOperator<T> inverse = first_entries(problem, others, value);
  for (const int sides : {1, 3, 7}) {
    SCOPED_TRACE(std::to_string(sides) + " right-hand sides");
    const DenseBlock<T> f = test::random_rhs(problem.space, sides);
    const auto result = block_cg<T>(problem.space, problem.matrix, &inverse, f, {}, {.tolerance = 1e-4});
    test::expect_consistent(problem, f, result, {.tolerance = 1e-4});
    for (const Outcome outcome : result.outcomes) EXPECT_EQ(outcome, Outcome::not_converged);
    EXPECT_TRUE(contains(result.remark, words)) << result.remark;
    EXPECT_EQ(result.findings.end, BlockCgEnd::indefinite_preconditioner);
    EXPECT_TRUE(result.findings.indefinite_preconditioner);
    EXPECT_FALSE(result.findings.indefinite_matrix);
    for (std::size_t j = 0; j < result.outcomes.size(); ++j) {
      EXPECT_LE(result.residual_norms[j], result.rhs_norms[j] * (1 + 1e-5));
    }
  }
}

TEST(BlockCgBreakdown, APreconditionerThatIsNotPositiveDefiniteIsNamed) {
  expect_preconditioner_named<double>(216, -1.0, "the preconditioner is not positive definite");
  expect_preconditioner_named<float>(216, -1.0, "the preconditioner is not positive definite");
  expect_preconditioner_named<double>(216, 0.0, "the preconditioner is not positive definite");
}

TEST(BlockCgBreakdown, APreconditionerThatGivesNoNumbersIsNamed) {
  for (const double value : {std::nan(""), HUGE_VAL}) {
    expect_preconditioner_named<double>(1, value, "the preconditioner gives values that are not finite");
    expect_preconditioner_named<float>(1, value, "the preconditioner gives values that are not finite");
  }
}

TEST(BlockCgBreakdown, APreconditionerThatIsNegativeSomewhereIsNamedOrDoesNoHarm) {
  const Communicator comm(MPI_COMM_WORLD);
  Problem<double> problem(*laplacian3d(comm, {.size = {6, 6, 6}}));
  bool named = false;
  for (const GlobalIndex others : {1, 20, 100}) {
    test::DiagonalOperator<double> inverse = first_entries(problem, others, -0.5);
    for (const int sides : {1, 3, 7, 16}) {
      SCOPED_TRACE(std::to_string(others) + " negative, " + std::to_string(sides) + " right-hand sides");
      const DenseBlock<double> f = test::random_rhs(problem.space, sides);
      const auto result = block_cg<double>(problem.space, problem.matrix, &inverse, f, {}, {});
      test::expect_consistent(problem, f, result, {});
      if (result.remark.empty()) continue;
      EXPECT_TRUE(contains(result.remark, "the preconditioner is not positive definite")) << result.remark;
      named = true;
    }
  }
  EXPECT_TRUE(named);
}

TEST(BlockCgBreakdown, AnIndefiniteMatrixIsNamedBesideItsPreconditioner) {
  test::RuleSource source(150, [](GlobalIndex i, GlobalIndex j) { return i == j ? -1.0 - double(i % 3) : 0.0; });
  Problem<double> problem(source);
  test::DiagonalOperator<double> inverse = first_entries(problem, 150, -1.0);
  const DenseBlock<double> f = test::random_rhs(problem.space, 4);
  const auto result = block_cg<double>(problem.space, problem.matrix, &inverse, f, {}, {});
  EXPECT_TRUE(contains(result.remark, "nor is A")) << result.remark;
  EXPECT_TRUE(result.findings.indefinite_matrix);
}

TEST(BlockCgBreakdown, NumbersBeyondTheRangeOfTheArithmeticAreSaid) {
  test::RuleSource source(20, [](GlobalIndex i, GlobalIndex j) { return i == j ? 1e200 : 0.0; });
  Problem<double> problem(source);
  const DenseBlock<double> f =
      test::make_rhs(problem.space, 2, [](GlobalIndex i, int j) { return 1e140 * noise(i, j); });
  const auto result = block_cg<double>(problem.space, problem.matrix, nullptr, f, {}, {});
  test::expect_consistent(problem, f, result, {});
}

/// A matrix of the collection; null where it is not at hand.
std::unique_ptr<MatrixSource> collection_matrix(const std::string& name) {
  const char* folder = std::getenv("BLOCK_EIGS_MATRICES");
  const std::string path = std::string(folder != nullptr ? folder : "../shared/matrices") + "/" + name;
  if (!std::filesystem::exists(path)) return nullptr;
  return open_matrix_file(Communicator(MPI_COMM_WORLD), path, "");
}

TEST(BlockCgCollection, TheOptimisationMatrixC62IsNotPositiveDefinite) {
  const auto source = collection_matrix("c-62.mtx.gz");
  if (source == nullptr) GTEST_SKIP() << "no c-62.mtx.gz in BLOCK_EIGS_MATRICES";
  Problem<double> problem(*source);
  Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
  const DenseBlock<double> f = test::random_rhs(problem.space, 8);
  const auto result = block_cg<double>(problem.space, problem.matrix, &jacobi, f, {}, {});
  test::expect_consistent(problem, f, result, {});
  EXPECT_TRUE(contains(result.remark, "not positive definite")) << result.remark;
}

TEST(BlockCgCollection, Bcsstk17ToANormwiseBackwardErrorOf1em12) {
  const auto source = collection_matrix("bcsstk17.mtx.gz");
  if (source == nullptr) GTEST_SKIP() << "no bcsstk17.mtx.gz in BLOCK_EIGS_MATRICES";
  Problem<double> problem(*source);
  Jacobi<double> jacobi(problem.context, problem.matrix.diagonal());
  const DenseBlock<double> f = test::random_rhs(problem.space, 16);
  const BlockCgOptions options{.tolerance = 1e-8, .max_iterations = 3000};
  const auto result = block_cg<double>(problem.space, problem.matrix, &jacobi, f, {}, options);
  test::expect_consistent(problem, f, result, options);
  EXPECT_EQ(result.remark, "");
  const std::vector<double> x_norms = problem.space.column_norms(result.solution.view());
  for (std::size_t j = 0; j < x_norms.size(); ++j) {
    const double scale = problem.matrix.norm_inf() * x_norms[j] + result.rhs_norms[j];
    EXPECT_LE(result.residual_norms[j], 1e-12 * scale) << j;
  }
}

}  // namespace
}  // namespace block_eigs
