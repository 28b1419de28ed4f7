#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "io/generate/generate.hpp"
#include "solver/small/lapack.hpp"
#include "spmm/error.hpp"
#include "tests/support/eigen_problem.hpp"

// Sums over all ranks, and small dense problems that every rank solves for itself.
namespace block_eigs {
namespace {

using test::Problem;

std::unique_ptr<MatrixSource> small_grid() {
  return laplacian2d(Communicator(MPI_COMM_WORLD), {.size = {11, 10}});
}

TEST(BlockSpaceTest, SumsThatTravelTogetherAreThoseThatTravelAlone) {
  Problem<double> problem(*small_grid());
  BlockSpace<double>& space = problem.space;
  DenseBlock<double> x = space.make_block(3), y = space.make_block(4), r = space.make_block(3);
  space.fill_random(x.view(), 1);
  space.fill_random(y.view(), 2);
  const std::vector<double> lambda(3, 0.5);
  SmallMatrix gram, gram_alone, nothing;
  std::vector<double> dots, norms, residuals;
  Sums sums;
  space.gram({x.view()}, {y.view()}, gram, sums);
  space.column_dots(x.view(), y.columns(0, 3), dots, sums);
  space.gram({x.columns(0, 0)}, {y.view()}, nothing, sums);
  space.column_norms(y.view(), norms, sums);
  space.residual(x.view(), y.columns(1, 3), lambda, r.view(), residuals, sums);
  const std::int64_t before = problem.comm.collectives();
  space.sum(sums);
  space.sum(sums);  // nothing is left
  EXPECT_EQ(problem.comm.collectives() - before, problem.comm.size() > 1 ? 1 : 0);
  space.gram({x.view()}, {y.view()}, gram_alone);
  for (std::size_t i = 0; i < gram.values().size(); ++i) EXPECT_EQ(gram.values()[i], gram_alone.values()[i]);
  EXPECT_EQ(nothing.rows(), 0);
  EXPECT_EQ(dots, space.column_dots(x.view(), y.columns(0, 3)));
  EXPECT_EQ(norms, space.column_norms(y.view()));
  EXPECT_EQ(residuals, space.residual(x.view(), y.columns(1, 3), lambda, r.view()));
}

TEST(BlockSpaceTest, ColumnsChangePlacesToTheBit) {
  Problem<double> problem(*small_grid());
  BlockSpace<double>& space = problem.space;
  DenseBlock<double> x = space.make_block(5), wanted = space.make_block(5);
  space.fill_random(x.view(), 1);
  space.copy_columns(x.view(), std::vector{3, 0, 4, 2, 1}, wanted.view());
  space.permute_columns(x.view(), std::vector<std::size_t>{3, 0, 4, 2, 1});
  EXPECT_EQ(x.to_host(), wanted.to_host());
}

/// The eigenvectors of a matrix that all ranks have.
void solve(BlockSpace<double>& space, SmallMatrix& vectors) {
  vectors = SmallMatrix::identity(40);
  for (int i = 1; i < 40; ++i) vectors(i, i - 1) = vectors(i - 1, i) = 1.0 / (i + 2.0);
  space.solve_small([&] { lapack::symmetric_eigen(vectors); }, {&vectors});
}

TEST(BlockSpaceTest, SmallProblemsHaveTheSameBitsOnAllRanksWhoeverSolvesThem) {
  Problem<double> problem(*small_grid());
  SmallMatrix alone, together;
  solve(problem.space, alone);
  const std::int64_t before = problem.comm.collectives();
  solve(problem.space, alone);
  EXPECT_EQ(problem.comm.collectives(), before) << "ranks of one machine need no message";
  problem.space.solve_on_root_alone();
  solve(problem.space, together);
  EXPECT_EQ(problem.comm.collectives() > before, problem.comm.size() > 1);
  for (std::size_t i = 0; i < alone.values().size(); ++i) EXPECT_EQ(alone.values()[i], together.values()[i]);
}

TEST(BlockSpaceTest, RanksWithDifferentSolutionsAllFindOutAtTheNextSum) {
  Problem<double> problem(*small_grid());
  if (problem.comm.size() == 1) GTEST_SKIP() << "nobody to differ from";
  BlockSpace<double>& space = problem.space;
  DenseBlock<double> x = space.make_block(2);
  space.fill_random(x.view(), 1);
  SmallMatrix solution(2, 2);
  space.solve_small([&] { solution(0, 1) = 1.0; }, {&solution});
  EXPECT_NO_THROW(space.column_norms(x.view()));
  // The last bit of one number on one rank.
  const double last = problem.comm.rank() + 1 == problem.comm.size() ? std::nextafter(1.0, 2.0) : 1.0;
  space.solve_small([&] { solution(1, 0) = last; }, {&solution});
  EXPECT_THROW(space.column_norms(x.view()), OnAllRanks);
}

TEST(BlockSpaceTest, ErrorsOfSmallProblemsAreThoseOfAllRanks) {
  Problem<double> problem(*small_grid());
  for (const bool on_root : {false, true}) {
    if (on_root) problem.space.solve_on_root_alone();
    EXPECT_THROW(problem.space.solve_small([] { throw InputError("indefinite"); }, {}), OnAllRanks);
    EXPECT_THROW(problem.space.solve_small([] { throw NumericalError("not finite"); }, {}), OnAllRanks);
  }
}

}  // namespace
}  // namespace block_eigs
