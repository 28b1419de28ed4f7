#include "solver/block_cg/deferred_solution.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "tests/support/linear_problem.hpp"

// Steps of a solution that wait: whenever and in however many pieces they are added, all of them are.
namespace block_eigs {
namespace {

using bcgrq::DeferredSolution;
using test::Problem;

double identity(GlobalIndex i, GlobalIndex j) { return i == j ? 1.0 : 0.0; }

SmallMatrix random_matrix(int rows, int cols, std::mt19937& random) {
  SmallMatrix result(rows, cols);
  for (double& value : result.values()) value = std::uniform_real_distribution<>(-1.0, 1.0)(random);
  return result;
}

double difference(BlockSpace<double>& space, ConstBlockView<double> x, const DenseBlock<double>& y) {
  DenseBlock<double> d = space.make_block(x.cols);
  space.copy(x, d.view());
  space.kernels().axpby(-1.0, y.view(), 1.0, d.view());
  double largest = 0.0;
  for (const double norm : space.column_norms(std::as_const(d).view())) largest = std::max(largest, norm);
  return largest;
}

/// Steps with fewer and fewer directions, down to none, as conjugate gradients lose them; `passes` parts of the
/// rows are brought up to date in each.
void add_steps(BlockSpace<double>& space, int width, int passes, unsigned seed) {
  constexpr int sides = 3;
  std::mt19937 random(seed);
  DeferredSolution<double> deferred(space, width);
  ASSERT_TRUE(deferred.defers());
  DenseBlock<double> x = space.make_block(sides);
  DenseBlock<double> expected = space.make_block(sides);
  space.fill_random(x.view(), seed);
  space.copy(std::as_const(x).view(), expected.view());
  Panel<double> s(space, width);
  for (int step = 0; step < 23; ++step) {
    const int directions = std::max(0, width - step / 5);
    s.set_columns(directions);
    space.fill_random(s.view(), seed + 100 + static_cast<unsigned>(step));
    const SmallMatrix a = random_matrix(directions, sides, random);
    SmallMatrix with_x(sides + directions, sides);
    for (int j = 0; j < sides; ++j) {
      with_x(j, j) = 1.0;
      std::copy_n(a.column(j), directions, with_x.column(j) + sides);
    }
    space.update({expected.view(), s.view()}, with_x, {expected.view()});
    Panel<double> next = deferred.spare();
    deferred.add(x.view(), std::exchange(s, std::move(next)), a);
    for (int pass = 0; pass < passes; ++pass) deferred.advance();
    if (step % 11 == 10) {
      deferred.complete();
      EXPECT_LE(difference(space, x.view(), expected), 1e-12) << step;
    }
  }
  deferred.complete();
  EXPECT_LE(difference(space, x.view(), expected), 1e-12) << width << " " << passes << " " << seed;
  deferred.complete();
  deferred.advance();
  EXPECT_LE(difference(space, x.view(), expected), 1e-12) << "nothing is added twice";
}

TEST(DeferredSolutionProperty, AllStepsAreAddedOnce) {
  for (const GlobalIndex rows : {1, 7, 250}) {
    test::RuleSource source(rows, identity);
    Problem<double> problem(source);
    for (const int width : {1, 4, 5}) {
      for (const int passes : {0, 1, 2, 3, 11}) add_steps(problem.space, width, passes, 7U);
    }
  }
}

TEST(DeferredSolutionProperty, NothingWaitsByDefault) {
  DeferredSolution<double> deferred;
  EXPECT_FALSE(deferred.defers());
  deferred.complete();
  test::RuleSource source(20, identity);
  Problem<double> problem(source);
  EXPECT_FALSE(DeferredSolution<double>::pays(*problem.context.device, nullptr, 1 << 20, 16));
}

}  // namespace
}  // namespace block_eigs
