#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "io/generate/generate.hpp"
#include "spmm/error.hpp"
#include "spmm/matrix/dense_block.hpp"
#include "spmm/matrix/distributed_matrix.hpp"
#include "spmm/parallel/halo_exchange.hpp"
#include "spmm/parallel/nccl_transport.hpp"
#include "spmm/parallel/staged_transport.hpp"
#include "tests/support/mpi_messages_device.hpp"

// Rows that queues send by themselves: the same ones as by staged MPI. By messages of MPI in the place of NCCL's
// on the host, and on GPUs where every rank has its own.
namespace block_eigs {
namespace {

enum class Place { host, gpu };

class NcclTransportTest : public ::testing::TestWithParam<Place> {
 protected:
  void SetUp() override {
    if (GetParam() == Place::host) {
      fake_ = std::make_shared<test::MpiMessagesDevice>(comm_.handle());
      device_ = fake_;
    } else {
      try {
        device_ = make_device(Backend::cuda, comm_.node_rank());
      } catch (const InputError&) {
        GTEST_SKIP() << "this machine has no GPU, or this build no CUDA backend: nothing was tested";
      }
    }
    TransportAttempt attempt = make_nccl_transport(comm_, device_, std::chrono::seconds(60));
    if (!fake_ && !attempt.transport) GTEST_SKIP() << "nothing was tested: " << attempt.why_not;
    ASSERT_TRUE(attempt.transport) << attempt.why_not;
    nccl_ = std::move(attempt.transport);
  }

  template <class T>
  Context<T> context(std::shared_ptr<Transport> transport) const {
    return {comm_, device_, make_kernels<T>(fake_ ? fake_->host() : device_), std::make_shared<Profile>(device_),
            std::move(transport)};
  }

  /// Each rank wants some rows of some others, not the same ones as these want of it.
  std::vector<GlobalIndex> random_ghosts(std::uint64_t seed) const {
    std::mt19937_64 draw(seed * 1000 + static_cast<std::uint64_t>(comm_.rank()));
    std::vector<GlobalIndex> ghosts;
    for (int r = 0; r < comm_.size(); ++r) {
      if (r == comm_.rank() || draw() % 4 == 0) continue;
      const std::uint64_t one_in = 1 + draw() % 8;
      for (GlobalIndex row = partition_.begin(r); row < partition_.end(r); ++row) {
        if (draw() % one_in == 0) ghosts.push_back(row);
      }
    }
    return ghosts;
  }

  template <class T>
  static T element(int turn, GlobalIndex row, LocalIndex column) {
    return static_cast<T>(GlobalIndex{1000003} * turn + 37 * row + column) / T(7);
  }

  template <class T>
  DenseBlock<T> block(int turn, LocalIndex columns) const {
    DenseBlock<T> x(device_, rows_of_rank, columns);
    std::vector<T> values;
    const GlobalIndex first = partition_.begin(comm_.rank());
    for (GlobalIndex row = first; row < first + rows_of_rank; ++row) {
      for (LocalIndex j = 0; j < columns; ++j) values.push_back(element<T>(turn, row, j));
    }
    x.from_host(values.data());
    return x;
  }

  template <class T>
  void expect_rows(ConstBlockView<T> ghosts, const std::vector<GlobalIndex>& wanted, int turn) const {
    ASSERT_EQ(static_cast<std::size_t>(ghosts.rows), wanted.size());
    std::vector<T> found(wanted.size() * static_cast<std::size_t>(ghosts.cols));
    std::vector<T> expected;
    for (const GlobalIndex row : wanted) {
      for (LocalIndex j = 0; j < ghosts.cols; ++j) expected.push_back(element<T>(turn, row, j));
    }
    if (found.empty()) return;
    device_->copy_to_host(found.data(), ghosts.data, found.size() * sizeof(T), Queue::compute);
    device_->synchronize(Queue::compute);
    EXPECT_EQ(found, expected) << "turn " << turn << ", " << ghosts.cols << " columns, rank " << comm_.rank();
  }

  template <class T>
  void expect_exchange(HaloExchange<T>& exchange, const std::vector<GlobalIndex>& wanted, int turn,
                       LocalIndex columns) const {
    const DenseBlock<T> x = block<T>(turn, columns);
    exchange.begin(x.view());
    exchange.progress();
    expect_rows<T>(exchange.finish(), wanted, turn);
  }

  template <class T>
  void exchange_by_random_plans() {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const std::vector<GlobalIndex> wanted = random_ghosts(seed);
      HaloExchange<T> exchange(context<T>(nccl_), HaloPlan(comm_, partition_, wanted));
      int turn = 0;
      for (const LocalIndex columns : {1, 16, 5, 0, 33, 8, 8, 40, 3}) {
        expect_exchange<T>(exchange, wanted, turn++, columns);
      }
    }
  }

  static constexpr LocalIndex rows_of_rank = 300;
  Communicator comm_{MPI_COMM_WORLD};
  Partition partition_ = Partition::uniform(GlobalIndex{rows_of_rank} * comm_.size(), comm_.size());
  std::shared_ptr<test::MpiMessagesDevice> fake_;  ///< null on a GPU
  std::shared_ptr<Device> device_;
  std::shared_ptr<Transport> nccl_;
};

INSTANTIATE_TEST_SUITE_P(Places, NcclTransportTest, ::testing::Values(Place::host, Place::gpu),
                         [](const auto& place) { return place.param == Place::host ? "host" : "cuda"; });

TEST_P(NcclTransportTest, DeliversDoubles) { exchange_by_random_plans<double>(); }
TEST_P(NcclTransportTest, DeliversFloats) { exchange_by_random_plans<float>(); }

TEST_P(NcclTransportTest, ChannelsTakeTurnsAndComeAndGo) {
  int turn = 0;
  for (std::uint64_t seed = 20; seed < 24; ++seed) {
    const std::vector<GlobalIndex> first = random_ghosts(seed);
    const std::vector<GlobalIndex> second = random_ghosts(seed + 100);
    HaloExchange<double> one(context<double>(nccl_), HaloPlan(comm_, partition_, first));
    HaloExchange<float> other(context<float>(nccl_), HaloPlan(comm_, partition_, second));
    for (const LocalIndex columns : {4, 7, 30}) {
      expect_exchange<double>(one, first, turn++, columns);
      expect_exchange<float>(other, second, turn++, columns + 1);
      expect_exchange<float>(other, second, turn++, columns);
    }
  }
}

// One that all ranks began and none finished, some of them late.
TEST_P(NcclTransportTest, AnExchangeCutShortLeavesNothingBehind) {
  const std::vector<GlobalIndex> wanted = random_ghosts(32);
  HaloExchange<double> exchange(context<double>(nccl_), HaloPlan(comm_, partition_, wanted));
  expect_exchange<double>(exchange, wanted, 1, 6);
  for (int turn = 2; turn < 5; ++turn) {
    const DenseBlock<double> x = block<double>(77, 6);
    if (comm_.is_root()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    exchange.begin(x.view());
    if (turn > 2) exchange.give_up();
    expect_exchange<double>(exchange, wanted, turn, 5 + turn);
  }
}

// The same bits as by MPI, and a host that has no part in it.
TEST_P(NcclTransportTest, ProductsMakeTheHostWaitForNothing) {
  if (comm_.size() == 1 && fake_) GTEST_SKIP() << "the rows of one rank would be taken apart on a GPU";
  const auto source = laplacian3d(comm_, {.size = {12, 12, 40}});
  const Partition partition = Partition::uniform(source->rows(), comm_.size());
  const auto product = [&](const std::shared_ptr<Transport>& transport) {
    DistributedMatrix<double> matrix(context<double>(transport), source->read(partition), partition, partition);
    DenseBlock<double> x(device_, matrix.rows(), 16);
    DenseBlock<double> y(device_, matrix.rows(), 16);
    context<double>(transport).kernels->fill_random(x.view(), 3, partition.begin(comm_.rank()));
    matrix.reserve(16);
    matrix.apply(x.view(), y.view());
    const TransferCount before = device_->transferred();
    for (int i = 0; i < 10; ++i) {
      matrix.apply(x.view(), y.view());
      matrix.apply(y.view(), x.view());
    }
    const TransferCount after = device_->transferred();
    if (transport == nccl_) {
      EXPECT_EQ(after.host_waits, before.host_waits);
      EXPECT_EQ(after.to_host, before.to_host);
      EXPECT_EQ(after.to_device, before.to_device);
    }
    return x.to_host();
  };
  EXPECT_EQ(product(nccl_), product(make_staged_transport(comm_, device_)));
}

TEST_P(NcclTransportTest, IsTakenByNameOrNotAndSaysSo) {
  if (comm_.size() == 1) GTEST_SKIP() << "one rank exchanges nothing";
  const auto description = [&](const std::shared_ptr<Device>& device) {
    return make_transport(comm_, device, HaloWay::nccl)->description();
  };
  EXPECT_TRUE(description(device_).starts_with("nccl, ")) << description(device_);
  if (!fake_) return;
  // Where one rank has no such messages, all ranks take the other way.
  const auto none = std::make_shared<test::StagedDevice>(Backend::cuda);
  EXPECT_TRUE(description(comm_.is_root() ? none : device_).starts_with("staged, ")) << description(device_);
  fake_->shared = true;
  EXPECT_EQ(description(device_), "staged, by MPI through host memory (ranks share a device)");
  EXPECT_EQ(description(make_device(Backend::host, 0)),
            "staged, by MPI through host memory (the ranks work on the host)");
}

}  // namespace
}  // namespace block_eigs
