// Every generator makes the same matrix, to the last bit, at any number of ranks and with any partition.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <functional>

#include "io/generate/generate.hpp"
#include "spmm/error.hpp"
#include "tests/support/dense_matrix.hpp"

namespace block_eigs::test {
namespace {

using Maker = std::function<std::unique_ptr<MatrixSource>(const Communicator&)>;

std::vector<Maker> makers() {
  using C = const Communicator&;
  return {
      [](C c) { return laplacian1d(c, {.size = {17}}); },
      [](C c) {
        return laplacian2d(c, {.size = {7, 5}, .points = 9});
      },
      [](C c) {
        return laplacian3d(c, {.size = {5, 4, 3}, .anisotropy = {1.0, 2.0, 0.5}});
      },
      [](C c) {
        return laplacian3d(c, {.size = {3, 4, 5}, .points = 27});
      },
      [](C c) {
        return elasticity3d(c, {.size = {3, 2, 2}});
      },
      [](C c) {
        return schroedinger3d(c, {.size = {4, 3, 5}});
      },
      [](C c) { return rmat(c, {.scale = 8}); },
      [](C c) { return rmat(c, {.scale = 8, .symmetric = false}); },
      [](C c) { return graph_laplacian(c, {.scale = 7, .edge_factor = 3}); },
      [](C c) { return random_uniform(c, {.rows = 61, .per_row = 9}); },
      [](C c) { return random_uniform(c, {.rows = 61, .per_row = 9, .symmetric = false}); },
      [](C c) { return random_banded(c, {.rows = 50, .bandwidth = 6, .density = 0.6}); },
      [](C c) { return random_spd(c, {.rows = 47, .per_row = 5}); },
      [](C c) { return laplacian1d(c, {.size = {1}}); },
      // More rows than one thread makes at a time.
      [](C c) { return laplacian1d(c, {.size = {20011}}); },
      [](C c) {
        return elasticity3d(c, {.size = {20, 18, 17}});
      },
      [](C c) { return random_uniform(c, {.rows = 40009, .per_row = 5, .symmetric = false}); },
      [](C c) { return random_banded(c, {.rows = 40009, .bandwidth = 6, .density = 0.6}); },
  };
}

std::vector<Partition> partitions(GlobalIndex rows, int ranks) {
  std::vector<GlobalIndex> all_on_last(static_cast<std::size_t>(ranks), 0);
  all_on_last.push_back(rows);
  std::vector<GlobalIndex> growing;
  for (int part = 0; part <= ranks; ++part) growing.push_back(rows * part * part / (ranks * ranks));
  return {Partition::uniform(rows, ranks), Partition(all_on_last), Partition(growing)};
}

TEST(Generators, DoNotDependOnTheNumberOfRanks) {
  const Communicator world(MPI_COMM_WORLD);
  const Communicator self(MPI_COMM_SELF);
  for (const Maker& make : makers()) {
    const auto source = make(world);
    SCOPED_TRACE(source->description());
    const CsrRows whole = read_all(*make(self));
    for (const Partition& partition : partitions(source->rows(), world.size())) {
      const CsrRows own = source->read(partition);
      const GlobalIndex begin = partition.begin(world.rank());
      ASSERT_EQ(own.row_begin, begin);
      ASSERT_EQ(own.rows(), partition.size(world.rank()));
      ASSERT_EQ(own.global_rows, source->rows());
      ASSERT_EQ(own.global_columns, source->columns());
      const Offset first = whole.row_offsets[static_cast<std::size_t>(begin)];
      for (std::size_t i = 0; i < own.row_offsets.size(); ++i) {
        ASSERT_EQ(own.row_offsets[i], whole.row_offsets[static_cast<std::size_t>(begin) + i] - first);
      }
      ASSERT_EQ(own.columns.size(), static_cast<std::size_t>(own.nonzeros()));
      ASSERT_EQ(own.values.size(), own.columns.size());
      for (std::size_t k = 0; k < own.columns.size(); ++k) {
        ASSERT_EQ(own.columns[k], whole.columns[static_cast<std::size_t>(first) + k]);
        ASSERT_EQ(own.values[k], whole.values[static_cast<std::size_t>(first) + k]);
      }
    }
  }
}

TEST(Generators, RefuseAPartitionOfAnotherMatrix) {
  const Communicator world(MPI_COMM_WORLD);
  const auto source = laplacian1d(world, {.size = {10}});
  EXPECT_THROW(source->read(Partition::uniform(11, world.size())), InputError);
}

TEST(Generators, TwoMillionRowsTakeLittleTime) {
  const Communicator world(MPI_COMM_WORLD);
  const auto source = laplacian3d(world, {.size = {128, 128, 128}});
  const Partition partition = Partition::uniform(source->rows(), world.size());
  const auto start = std::chrono::steady_clock::now();
  const Offset nonzeros = source->read(partition).nonzeros();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::int64_t total = world.sum(nonzeros);
  EXPECT_EQ(total, 7LL * 128 * 128 * 128 - 6LL * 128 * 128);
  const double slowest = world.max(seconds);
  if (world.is_root()) std::printf("7 points, 2097152 rows, %d ranks: %.3f s\n", world.size(), slowest);
  EXPECT_LT(slowest, 10.0);  // a generous bound: instrumented builds on shared cores
}

}  // namespace
}  // namespace block_eigs::test
