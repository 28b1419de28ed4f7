#include <gtest/gtest.h>

#include "io/generate/generate.hpp"
#include "solver/multigrid/amg.hpp"
#include "solver/multigrid/nested_iteration.hpp"
#include "solver/multigrid/smoothed_aggregation.hpp"
#include "solver/preconditioner/cast_operator.hpp"
#include "solver/preconditioner/chebyshev.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/matrix/distributed_matrix.hpp"
#include "tests/support/failing_device.hpp"

// A rank that runs out of memory in an operator must not leave the others waiting, nor go on without them.
namespace block_eigs {
namespace {

/// The last rank's device can be made to fail.
struct Setting {
  Setting() : comm(MPI_COMM_WORLD), context(make_context<double>(comm, Backend::host)) {
    device = std::make_shared<test::FailingDevice>(context.device);
    context.device = device;
    context.kernels = make_kernels<double>(device);
    const auto source = laplacian3d(comm, {{12, 13, 14}});
    partition = Partition::uniform(source->rows(), comm.size());
    rows = source->read(partition);
  }

  void fill_memory() { device->full = comm.rank() + 1 == comm.size(); }
  void free_memory() { device->full = false; }

  /// apply() on `columns` columns throws what all ranks have while one of them has no memory, works once it has
  /// again, and needs none after that.
  void expect_all_or_none(LinearOperator<double>& operation, LocalIndex columns) {
    BlockSpace<double> space(context, partition);
    DenseBlock<double> x = space.make_block(columns), y = space.make_block(columns);
    space.fill_random(x.view(), 1);
    fill_memory();
    EXPECT_THROW(operation.apply(x.view(), y.view()), OnAllRanks);
    free_memory();
    operation.reserve(columns);
    operation.apply(x.view(), y.view());  // what the halo has of its own
    fill_memory();
    operation.apply(x.view(), y.view());
    operation.apply(x.columns(0, 2), y.columns(0, 2));
    free_memory();
  }

  Communicator comm;
  Context<double> context;
  std::shared_ptr<test::FailingDevice> device;
  Partition partition;
  CsrRows rows;
};

TEST(Reserve, ChebyshevFailsOnAllRanksOrNone) {
  Setting setting;
  DistributedMatrix<double> a(setting.context, setting.rows, setting.partition, setting.partition);
  Chebyshev<double> chebyshev(setting.context, a, a.diagonal(), a.scaled_gershgorin_bound(), {6, 0.0});
  setting.expect_all_or_none(chebyshev, 5);
}

TEST(Reserve, AmgFailsOnAllRanksOrNone) {
  Setting setting;
  Amg<double> amg(setting.context, smoothed_aggregation(setting.comm, setting.rows, setting.partition, {}), {});
  ASSERT_GE(amg.levels(), 2);
  setting.expect_all_or_none(amg, 5);
}

TEST(Reserve, CastFailsOnAllRanksOrNone) {
  Setting setting;
  Amg<float> amg(with_precision<float>(setting.context),
                 smoothed_aggregation(setting.comm, setting.rows, setting.partition, {}), {});
  CastOperator cast(setting.context, amg);
  setting.expect_all_or_none(cast, 5);
}

TEST(Reserve, NestedIterationGoesOnWithoutStartVectorsOnAllRanks) {
  Setting setting;
  // A level between the finest and the coarsest.
  Amg<double> amg(setting.context,
                  smoothed_aggregation(setting.comm, setting.rows, setting.partition, {}, {.coarse_rows = 20}),
                  {});
  ASSERT_GE(amg.levels(), 3);
  setting.fill_memory();
  EXPECT_EQ(nested_iteration(amg, 3, 1).cols(), 0);
  setting.free_memory();
  EXPECT_EQ(nested_iteration(amg, 3, 1).cols(), 3);
}

}  // namespace
}  // namespace block_eigs
