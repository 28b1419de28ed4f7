#include "solver/lobpcg/finished_pairs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "tests/support/eigen_problem.hpp"
#include "tests/support/linear_problem.hpp"

// Vectors near those of a diagonal A: pair j is row j.
namespace block_eigs {
namespace {

constexpr GlobalIndex n = 40;
constexpr double well = -1e10;

class FinishedPairs : public ::testing::Test {
 protected:
  FinishedPairs()
      : source(n, [](GlobalIndex i, GlobalIndex j) { return i != j ? 0.0 : value(static_cast<int>(i)); }),
        problem(source),
        vectors(problem.space.make_block(3)) {
    const BlockView<double> all = vectors.view();
    std::fill_n(all.data, static_cast<std::size_t>(all.rows) * static_cast<std::size_t>(all.stride), 0.0);
    for (int j = 0; j < 3; ++j) add(j, j, 1.0);
  }

  static double value(int i) { return i == 0 ? well : static_cast<double>(i); }

  void add(GlobalIndex row, LocalIndex column, double entry) {
    const GlobalIndex own = row - problem.space.first_row();
    if (own >= 0 && own < vectors.rows()) vectors.view().data[own * vectors.stride() + column] += entry;
  }

  std::optional<EigenResult<double>> finish(const DenseBlock<double>* constraints = nullptr) {
    LobpcgOptions options;
    options.pairs = 3;
    options.tolerance = 1e-8;
    return finished_pairs<double>(problem.space, problem.matrix, nullptr, options, vectors, values, constraints);
  }

  test::RuleSource source;
  test::Problem<double> problem;
  DenseBlock<double> vectors;
  std::vector<double> values{value(0), value(1), value(2)};
};

TEST_F(FinishedPairs, AreJudgedByProducts) {
  const std::optional<EigenResult<double>> result = finish();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->eigenvalues, values);
  for (const Outcome outcome : result->outcomes) EXPECT_EQ(outcome, Outcome::converged);
  add(3, 2, 1e-2);
  EXPECT_FALSE(finish());
}

// A well is done with 1e-9 of its neighbour in it, which has no room for as much of the well.
TEST_F(FinishedPairs, ErrorsOfLargeValuesAreNotHandedToSmallOnes) {
  add(1, 0, 1e-9);
  const std::optional<EigenResult<double>> result = finish();
  ASSERT_TRUE(result);
  EXPECT_LE(result->residual_norms[1], 1e-8);
  EXPECT_LE(test::orthogonality_error(problem.space, result->eigenvectors), 1e-14);
}

// Those of an earlier result, say, which are eigenvectors within its tolerance: a step with factors turns towards
// them.
TEST_F(FinishedPairs, StayOutsideOfConstraints) {
  DenseBlock<double> constraints = problem.space.make_block(1);
  const BlockView<double> c = constraints.view();
  for (LocalIndex i = 0; i < c.rows; ++i) {
    const GlobalIndex row = problem.space.first_row() + i;
    c.data[i * c.stride] = row == 5 ? 3.0 : row == 1 ? 3e-10 : 0.0;
  }
  add(5, 2, 1e-10);
  const std::optional<EigenResult<double>> result = finish(&constraints);
  ASSERT_TRUE(result);
  SmallMatrix along;
  problem.space.gram({c}, {result->eigenvectors.view()}, along);
  for (int j = 0; j < 3; ++j) EXPECT_LE(std::abs(along(0, j)), 1e-14) << j;
  EXPECT_LE(test::orthogonality_error(problem.space, result->eigenvectors), 1e-14);
}

TEST_F(FinishedPairs, DependentVectorsAreNone) {
  add(1, 2, 1.0);
  add(2, 2, -1.0);
  EXPECT_FALSE(finish());
}

}  // namespace
}  // namespace block_eigs
