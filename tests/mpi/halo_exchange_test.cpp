#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "spmm/error.hpp"
#include "spmm/matrix/dense_block.hpp"
#include "spmm/matrix/distributed_matrix.hpp"
#include "spmm/parallel/halo_exchange.hpp"
#include "spmm/parallel/staged_transport.hpp"
#include "tests/support/parts_of_rows.hpp"
#include "tests/support/staged_device.hpp"

// Packed rows on their way between ranks, as the host sends them and as a GPU does: on all ranks two rows, of
// which the second is what the rank before, in a ring, wants.
namespace block_eigs {
namespace {

using test::StagedDevice;

class HaloExchangeTest : public ::testing::TestWithParam<Backend> {
 protected:
  HaloExchangeTest()
      : comm_(MPI_COMM_WORLD),
        device_(std::make_shared<StagedDevice>(GetParam())),
        partition_(Partition::uniform(GlobalIndex{2} * comm_.size(), comm_.size())),
        context_(context(std::chrono::seconds(60))) {}

  int next() const { return (comm_.rank() + 1) % comm_.size(); }
  Context<double> context(std::chrono::duration<double> patience) const {
    return {comm_, device_, make_kernels<double>(device_->host()), std::make_shared<Profile>(device_),
            make_staged_transport(comm_, device_, patience)};
  }
  HaloPlan plan() const {
    std::vector<GlobalIndex> ghosts;
    if (comm_.size() > 1) ghosts.push_back(2 * next() + 1);
    return {comm_, partition_, ghosts};
  }
  static double element(int turn, GlobalIndex row, LocalIndex column) {
    return 1000.0 * turn + 10.0 * static_cast<double>(row) + column;
  }
  DenseBlock<double> block(int turn, LocalIndex columns) const {
    DenseBlock<double> x(device_, 2, columns);
    std::vector<double> values;
    for (GlobalIndex row = partition_.begin(comm_.rank()); row < partition_.end(comm_.rank()); ++row) {
      for (LocalIndex j = 0; j < columns; ++j) values.push_back(element(turn, row, j));
    }
    x.from_host(values.data());
    return x;
  }
  void expect_ghosts(HaloExchange<double>& exchange, int turn, LocalIndex columns) const {
    const DenseBlock<double> x = block(turn, columns);
    exchange.begin(x.view());
    exchange.progress();
    const ConstBlockView<double> ghosts = exchange.finish();
    ASSERT_EQ(ghosts.rows, comm_.size() > 1 ? 1 : 0);
    ASSERT_EQ(ghosts.cols, columns);
    if (ghosts.rows == 0) return;
    for (LocalIndex j = 0; j < columns; ++j) EXPECT_EQ(ghosts.data[j], element(turn, 2 * next() + 1, j)) << turn;
  }

  Communicator comm_;
  std::shared_ptr<StagedDevice> device_;
  Partition partition_;
  Context<double> context_;
};

INSTANTIATE_TEST_SUITE_P(Ways, HaloExchangeTest, ::testing::Values(Backend::host, Backend::cuda),
                         [](const auto& way) { return way.param == Backend::host ? "direct" : "staged"; });

TEST_P(HaloExchangeTest, DeliversRowsOfAnyWidthInTurn) {
  HaloExchange<double> exchange(context_, plan());
  int turn = 0;
  for (const LocalIndex columns : {1, 5, 40, 3, 0, 40}) expect_ghosts(exchange, turn++, columns);
}

TEST_P(HaloExchangeTest, ReservedExchangesAllocateNothing) {
  HaloExchange<double> exchange(context_, plan());
  exchange.reserve(12);
  const int before = device_->allocations;
  const DenseBlock<double> x = block(0, 12);
  const int own = device_->allocations - before;
  exchange.begin(x.view());
  exchange.finish();
  EXPECT_EQ(device_->allocations, before + own);
  expect_ghosts(exchange, 1, 5);
}

TEST_P(HaloExchangeTest, ReserveFailsOnAllRanksWhereOneHasNoMemory) {
  if (comm_.size() == 1) GTEST_SKIP() << "nothing to reserve";
  HaloExchange<double> exchange(context_, plan());
  if (comm_.rank() == comm_.size() - 1) device_->room = 10;
  EXPECT_THROW(exchange.reserve(1000), OnAllRanks);
  device_->room = 1'000'000;
  exchange.reserve(1000);
  expect_ghosts(exchange, 0, 1000);
}

// One that all ranks began and none finished, some of them late: its rows must not turn up in the next one, of the
// same object or of another.
TEST_P(HaloExchangeTest, AnExchangeCutShortLeavesNothingBehind) {
  const DenseBlock<double> x = block(7, 6);
  const auto begin_late = [&](HaloExchange<double>& exchange) {
    if (comm_.is_root()) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    exchange.begin(x.view());
  };
  {
    HaloExchange<double> dropped(context_, plan());
    begin_late(dropped);
  }
  HaloExchange<double> exchange(context_, plan());
  expect_ghosts(exchange, 1, 6);
  begin_late(exchange);
  expect_ghosts(exchange, 2, 9);
  begin_late(exchange);
  exchange.give_up();
  expect_ghosts(exchange, 3, 6);
}

TEST_P(HaloExchangeTest, IsDeadAfterANeighbourDidNotAnswer) {
  if (comm_.size() == 1) GTEST_SKIP() << "no neighbours";
  const DenseBlock<double> x = block(0, 3);
  {
    HaloExchange<double> exchange(context(std::chrono::milliseconds(50)), plan());
    if (comm_.rank() < comm_.size() - 1) exchange.begin(x.view());
    if (comm_.rank() == comm_.size() - 2) {
      exchange.give_up();
      EXPECT_THROW(exchange.begin(x.view()), RunError);
    }
  }
  comm_.barrier();
}

TEST_P(HaloExchangeTest, AMatrixReservesOnAllRanksOrOnNone) {
  CsrRows rows;
  rows.row_begin = partition_.begin(comm_.rank());
  rows.global_rows = rows.global_columns = partition_.rows();
  const GlobalIndex neighbour = 2 * next() + 1;
  for (GlobalIndex row = rows.row_begin; row < rows.row_begin + 2; ++row) {
    rows.columns.push_back(std::min(row, neighbour));
    if (row != neighbour) rows.columns.push_back(std::max(row, neighbour));
    rows.row_offsets.push_back(static_cast<Offset>(rows.columns.size()));
  }
  rows.values.assign(rows.columns.size(), 1.0);
  DistributedMatrix<double> matrix(context_, test::parts_of(device_, rows, partition_, comm_.rank()), partition_,
                                   partition_, nullptr);
  if (comm_.size() > 1) {
    if (comm_.is_root()) device_->room = 10;
    EXPECT_THROW(matrix.reserve(50), OnAllRanks);
    device_->room = 1'000'000;
  }
  matrix.reserve(50);
  const DenseBlock<double> x = block(0, 50);
  DenseBlock<double> y(device_, 2, 50);
  const int before = device_->allocations;
  matrix.apply(x.view(), y.view());
  EXPECT_EQ(device_->allocations, before);
  EXPECT_DOUBLE_EQ(y.to_host()[4], element(0, rows.row_begin, 4) + element(0, neighbour, 4));
}

// A scope that an error ends must not throw another one, which would end the process without a word of the first.
TEST_P(HaloExchangeTest, ScopesEndQuietlyOnALostDevice) {
  Profile profile(device_);
  profile.start();
  EXPECT_THROW(
      {
        const Profile::Scope scope(profile, Phase::spmm);
        device_->lost = true;
        throw RunError("the device is lost");
      },
      RunError);
  device_->lost = false;
}

// Nobody reads the times: no events beside those of the exchange itself.
TEST_P(HaloExchangeTest, ProfilesThatNobodyHasStartedRecordNothing) {
  Profile profile(device_);
  const int before = device_->events_recorded;
  { const Profile::Scope scope(profile, Phase::spmm); }
  EXPECT_EQ(device_->events_recorded, before);
  EXPECT_EQ(profile.seconds(Phase::spmm), 0.0);
  profile.start();
  {
    const Profile::Scope scope(profile, Phase::spmm);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const Profile::Scope inner(profile, Phase::halo_wait);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_GE(profile.seconds(Phase::spmm), 0.019);
  EXPECT_GE(profile.seconds(Phase::halo_wait), 0.004);
  profile.start();
  EXPECT_EQ(profile.seconds(Phase::spmm), 0.0);
}

}  // namespace
}  // namespace block_eigs
