#include "solver/space/orthonormalize.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "solver/small/lapack.hpp"
#include "spmm/error.hpp"
#include "tests/support/random_problem.hpp"

// orthonormalize with random blocks of random shapes and dependent columns, on any number of ranks; ranks are
// compared with those of LAPACK's eigenvalues of the Gram matrix.
namespace block_eigs {
namespace {

using test::Random;
using test::random_matrix;
using test::uniform;
using test::whole;

struct Space {
  explicit Space(GlobalIndex rows)
      : comm(MPI_COMM_WORLD),
        context(make_context<double>(comm, Backend::host)),
        space(context, Partition::uniform(rows, comm.size())) {}

  /// The own rows of a block that all ranks know.
  DenseBlock<double> block(const SmallMatrix& all) {
    DenseBlock<double> result = space.make_block(all.cols());
    std::vector<double> own;
    for (LocalIndex i = 0; i < space.local_rows(); ++i) {
      for (int j = 0; j < all.cols(); ++j) own.push_back(all(static_cast<int>(space.first_row()) + i, j));
    }
    result.from_host(own.data());
    return result;
  }

  Communicator comm;
  Context<double> context;
  BlockSpace<double> space;
};

double deviation(const SmallMatrix& gram, bool from_identity) {
  double most = 0.0;
  for (int j = 0; j < gram.cols(); ++j) {
    for (int i = 0; i < gram.rows(); ++i)
      most = std::max(most, std::abs(gram(i, j) - (from_identity && i == j ? 1.0 : 0.0)));
  }
  return most;
}

TEST(Orthonormalize, RandomBlocksWithDependentColumns) {
  for (int seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(static_cast<std::uint64_t>(seed));
    const int rows = whole(random, 30, 60);
    const int before = whole(random, 0, 6);
    const int cols = whole(random, 1, 12);
    const int independent = whole(random, 1, cols);
    Space on(rows);

    SmallMatrix v = random_matrix(random, rows, std::max(before, 1));
    DenseBlock<double> against = on.block(v);
    const LocalIndex in_against = before == 0
                                      ? 0
                                      : orthonormalize<double>(on.space, {}, against.view(), against.view(), {},
                                                               Orthonormality::to_rounding);
    ASSERT_EQ(in_against, before);
    // Columns of very different lengths, of which some are combinations of others.
    SmallMatrix w = random_matrix(random, rows, cols);
    for (int j = 0; j < cols; ++j) {
      const double scale = std::pow(10.0, uniform(random, -8.0, 8.0));
      const int from = j < independent ? -1 : whole(random, 0, independent - 1);
      for (int i = 0; i < rows; ++i) w(i, j) = scale * (from < 0 ? w(i, j) : w(i, from) / std::abs(w(0, from)));
    }
    DenseBlock<double> block = on.block(w);
    const ConstBlockView<double> deflated = ConstBlockView<double>(against.view()).columns(0, before);
    const LocalIndex left = orthonormalize<double>(on.space, {deflated}, block.view(), block.view(), {deflated},
                                                   Orthonormality::to_rounding);
    EXPECT_EQ(left, independent);
    const BlockView<double> kept = block.view().columns(0, left);
    SmallMatrix gram;
    on.space.gram({kept}, {kept}, gram);
    EXPECT_LT(deviation(gram, true), 1e-13);
    if (before > 0) {
      on.space.gram({deflated}, {kept}, gram);
      EXPECT_LT(deviation(gram, false), 1e-13);
    }
    // The span is that of [V W]: nothing of W is left beside it.
    const DenseBlock<double> original = on.block(w);
    SmallMatrix along, along_v, whole_gram;
    on.space.gram({kept}, {original.view()}, along);
    on.space.gram({deflated}, {original.view()}, along_v);
    on.space.gram({original.view()}, {original.view()}, whole_gram);
    for (int j = 0; j < cols; ++j) {
      double squared = whole_gram(j, j);
      for (int i = 0; i < along.rows(); ++i) squared -= along(i, j) * along(i, j);
      for (int i = 0; i < along_v.rows(); ++i) squared -= along_v(i, j) * along_v(i, j);
      EXPECT_LT(std::abs(squared), 1e-11 * whole_gram(j, j)) << j;
    }
  }
}

TEST(Orthonormalize, ValuesThatAreNotFiniteAreAnErrorOfAllRanks) {
  Space on(20);
  DenseBlock<double> block = on.space.make_block(3);
  on.space.kernels().fill(block.view(), std::nan(""));
  EXPECT_THROW(orthonormalize<double>(on.space, {}, block.view(), block.view(), {}, Orthonormality::to_rounding),
               OnAllRanks);
}

}  // namespace
}  // namespace block_eigs
