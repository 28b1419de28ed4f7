#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "io/generate/generate.hpp"
#include "spmm/error.hpp"
#include "spmm/matrix/dense_block.hpp"
#include "spmm/matrix/distributed_matrix.hpp"
#include "spmm/parallel/halo_exchange.hpp"
#include "spmm/parallel/peer_transport.hpp"
#include "spmm/parallel/staged_transport.hpp"
#include "tests/support/shared_memory_device.hpp"

// Rows that are stored straight into the memory of a neighbour: the same ones as by MPI, whatever is wanted by
// whom, however wide, and whoever is late. In shared memory of the host, and on GPUs, as many as there are.
namespace block_eigs {
namespace {

enum class Place { host, gpu };

class PeerTransportTest : public ::testing::TestWithParam<Place> {
 protected:
  void SetUp() override {
    if (GetParam() == Place::host) {
      shared_ = std::make_shared<test::SharedMemoryDevice>();
      device_ = shared_;
    } else {
      try {
        device_ = make_device(Backend::cuda, comm_.node_rank());
      } catch (const InputError&) {
        GTEST_SKIP() << "this machine has no GPU, or this build no CUDA backend: nothing was tested";
      }
    }
    TransportAttempt attempt = make_peer_transport(comm_, device_, std::chrono::seconds(60));
    ASSERT_TRUE(attempt.transport) << attempt.why_not;
    peer_ = std::move(attempt.transport);
  }

  template <class T>
  Context<T> context(std::shared_ptr<Transport> transport) const {
    return {comm_, device_, make_kernels<T>(shared_ ? shared_->host() : device_),
            std::make_shared<Profile>(device_), std::move(transport)};
  }

  int ranks() const { return comm_.size(); }
  GlobalIndex rows() const { return GlobalIndex{rows_of_rank} * ranks(); }
  Partition partition() const { return Partition::uniform(rows(), ranks()); }

  /// Each rank wants some rows of some others, not the same ones as these want of it.
  HaloPlan random_plan(std::uint64_t seed) const {
    std::mt19937_64 draw(seed * 1000 + static_cast<std::uint64_t>(comm_.rank()));
    std::vector<GlobalIndex> ghosts;
    for (int r = 0; r < ranks(); ++r) {
      if (r == comm_.rank() || draw() % 4 == 0) continue;
      const std::uint64_t one_in = 1 + draw() % 8;
      for (GlobalIndex row = partition().begin(r); row < partition().end(r); ++row) {
        if (draw() % one_in == 0) ghosts.push_back(row);
      }
    }
    wanted_ = ghosts;
    return {comm_, partition(), ghosts};
  }

  template <class T>
  static T element(int turn, GlobalIndex row, LocalIndex column) {
    return static_cast<T>(GlobalIndex{1000003} * turn + 37 * row + column) / T(7);
  }

  template <class T>
  DenseBlock<T> block(int turn, LocalIndex columns) const {
    DenseBlock<T> x(device_, rows_of_rank, columns);
    std::vector<T> values;
    const GlobalIndex first = partition().begin(comm_.rank());
    for (GlobalIndex row = first; row < first + rows_of_rank; ++row) {
      for (LocalIndex j = 0; j < columns; ++j) values.push_back(element<T>(turn, row, j));
    }
    x.from_host(values.data());
    return x;
  }

  template <class T>
  std::vector<T> to_host(ConstBlockView<T> ghosts) const {
    std::vector<T> values(static_cast<std::size_t>(ghosts.rows) * static_cast<std::size_t>(ghosts.cols));
    if (values.empty()) return values;
    device_->copy_to_host(values.data(), ghosts.data, values.size() * sizeof(T), Queue::compute);
    device_->synchronize(Queue::compute);
    return values;
  }

  template <class T>
  void expect_rows(ConstBlockView<T> ghosts, const std::vector<GlobalIndex>& wanted, int turn) const {
    const std::vector<T> values = to_host(ghosts);
    ASSERT_EQ(static_cast<std::size_t>(ghosts.rows), wanted.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      for (LocalIndex j = 0; j < ghosts.cols; ++j) {
        const T found = values[i * static_cast<std::size_t>(ghosts.cols) + static_cast<std::size_t>(j)];
        if (found != element<T>(turn, wanted[i], j)) ++wrong;
      }
    }
    EXPECT_EQ(wrong, 0u) << "turn " << turn << ", " << ghosts.cols << " columns, rank " << comm_.rank();
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
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      HaloExchange<T> exchange(context<T>(peer_), random_plan(seed));
      const std::vector<GlobalIndex> wanted = wanted_;
      int turn = 0;
      for (const LocalIndex columns : {1, 16, 5, 0, 33, 8, 8, 40, 3, 40}) {
        expect_exchange<T>(exchange, wanted, turn++, columns);
      }
    }
  }

  static constexpr LocalIndex rows_of_rank = 300;
  Communicator comm_{MPI_COMM_WORLD};
  std::shared_ptr<test::SharedMemoryDevice> shared_;  ///< null on a GPU
  std::shared_ptr<Device> device_;
  std::shared_ptr<Transport> peer_;
  mutable std::vector<GlobalIndex> wanted_;  ///< by the latest plan
};

INSTANTIATE_TEST_SUITE_P(Places, PeerTransportTest, ::testing::Values(Place::host, Place::gpu),
                         [](const auto& place) { return place.param == Place::host ? "host" : "cuda"; });

TEST_P(PeerTransportTest, DeliversDoubles) { exchange_by_random_plans<double>(); }
TEST_P(PeerTransportTest, DeliversFloats) { exchange_by_random_plans<float>(); }

// Rounds follow one another without a look at the result, so that ranks run ahead of each other; one of them, in
// turn, is late or has a busy device.
TEST_P(PeerTransportTest, NobodyOverwritesWhatWasNotRead) {
  constexpr LocalIndex columns = 12;
  constexpr int turns = 60;
  HaloExchange<double> exchange(context<double>(peer_), random_plan(11));
  const std::vector<GlobalIndex> wanted = wanted_;
  exchange.reserve(columns);
  const auto kernels = context<double>(peer_).kernels;
  DenseBlock<double> busy(device_, 20000, 64);
  std::vector<DenseBlock<double>> sent;
  std::vector<DenseBlock<double>> copies;
  for (int turn = 0; turn < turns; ++turn) {
    sent.push_back(block<double>(turn, columns));
    copies.emplace_back(device_, static_cast<LocalIndex>(wanted.size()), columns);
  }
  for (int turn = 0; turn < turns; ++turn) {
    const bool late = turn / 3 % ranks() == comm_.rank();
    exchange.begin(sent[static_cast<std::size_t>(turn)].view());
    if (late && turn % 3 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(3));
    const ConstBlockView<double> ghosts = exchange.finish();
    for (int i = 0; late && i < 20; ++i) kernels->fill(busy.view(), i);
    if (!wanted.empty()) kernels->copy(ghosts, copies[static_cast<std::size_t>(turn)].view());
  }
  for (int turn = 0; turn < turns; ++turn) {
    expect_rows<double>(std::as_const(copies[static_cast<std::size_t>(turn)]).view(), wanted, turn);
  }
}

TEST_P(PeerTransportTest, ChannelsTakeTurnsAndComeAndGo) {
  int turn = 0;
  for (std::uint64_t seed = 20; seed < 24; ++seed) {
    HaloExchange<double> one(context<double>(peer_), random_plan(seed));
    const std::vector<GlobalIndex> first = wanted_;
    HaloExchange<float> other(context<float>(peer_), random_plan(seed + 100));
    const std::vector<GlobalIndex> second = wanted_;
    for (const LocalIndex columns : {4, 7, 30}) {
      expect_exchange<double>(one, first, turn++, columns);
      expect_exchange<float>(other, second, turn++, columns + 1);
      expect_exchange<float>(other, second, turn++, columns);
    }
  }
}

// One that all ranks began and none finished, some of them late.
TEST_P(PeerTransportTest, AnExchangeCutShortLeavesNothingBehind) {
  const auto begin_late = [&](HaloExchange<double>& exchange) {
    const DenseBlock<double> x = block<double>(77, 6);
    if (comm_.is_root()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    exchange.begin(x.view());
  };
  {
    HaloExchange<double> dropped(context<double>(peer_), random_plan(31));
    begin_late(dropped);
  }
  HaloExchange<double> exchange(context<double>(peer_), random_plan(32));
  const std::vector<GlobalIndex> wanted = wanted_;
  expect_exchange<double>(exchange, wanted, 1, 6);
  begin_late(exchange);
  expect_exchange<double>(exchange, wanted, 2, 9);
  begin_late(exchange);
  exchange.give_up();
  for (int turn = 3; turn < 8; ++turn) expect_exchange<double>(exchange, wanted, turn, 6);
}

/// A row of the next rank, in a ring.
HaloPlan ring(const Communicator& comm, const Partition& partition) {
  const std::vector<GlobalIndex> ghosts = {partition.begin((comm.rank() + 1) % comm.size())};
  return {comm, partition, ghosts};
}

TEST_P(PeerTransportTest, IsDeadAfterANeighbourDidNotAnswer) {
  if (ranks() == 1) GTEST_SKIP() << "no neighbours";
  const DenseBlock<double> x = block<double>(0, 3);
  {
    const auto impatient = make_peer_transport(comm_, device_, std::chrono::milliseconds(50)).transport;
    HaloExchange<double> exchange(context<double>(impatient), ring(comm_, partition()));
    exchange.reserve(3);
    if (comm_.rank() < ranks() - 1) exchange.begin(x.view());
    if (comm_.rank() == ranks() - 2) {
      exchange.give_up();
      EXPECT_THROW(exchange.begin(x.view()), RunError);
    }
  }
  comm_.barrier();
}

TEST_P(PeerTransportTest, ReserveFailsOnAllRanksWhereOneHasNoMemory) {
  if (ranks() == 1 || !shared_) GTEST_SKIP() << "nothing to reserve, or memory for all";
  HaloExchange<double> exchange(context<double>(peer_), ring(comm_, partition()));
  const std::vector<GlobalIndex> wanted = {partition().begin((comm_.rank() + 1) % ranks())};
  if (comm_.rank() == ranks() - 1) shared_->room = 10;
  EXPECT_THROW(exchange.reserve(1000), OnAllRanks);
  shared_->room = std::size_t{1} << 40;
  exchange.reserve(1000);
  const int before = shared_->allocations;
  const DenseBlock<double> x = block<double>(5, 1000);
  const int own = shared_->allocations - before;
  exchange.begin(x.view());
  expect_rows<double>(exchange.finish(), wanted, 5);
  EXPECT_EQ(shared_->allocations, before + own);
}

// What the transport is for: products that the host has no part in.
TEST_P(PeerTransportTest, ProductsMakeTheHostWaitForNothing) {
  if (ranks() == 1 && shared_) GTEST_SKIP() << "the rows of one rank would be taken apart on a GPU";
  const auto source = laplacian3d(comm_, {.size = {12, 12, 40}});
  const Partition partition = Partition::uniform(source->rows(), ranks());
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
    if (transport == peer_) {
      EXPECT_EQ(after.host_waits, before.host_waits);
      EXPECT_EQ(after.to_host, before.to_host);
      EXPECT_EQ(after.to_device, before.to_device);
    }
    return x.to_host();
  };
  EXPECT_EQ(product(peer_), product(make_staged_transport(comm_, device_)));
}

TEST_P(PeerTransportTest, IsChosenWhereItWorksAndSaysSo) {
  if (ranks() == 1) GTEST_SKIP() << "one rank exchanges nothing";
  const auto starts_with = [&](HaloWay way, const std::shared_ptr<Device>& device) {
    const std::string text = make_transport(comm_, device, way)->description();
    return text.substr(0, text.find(','));
  };
  // On GPUs as many ranks may run as there are GPUs, or more.
  const bool own_devices =
      make_peer_transport(comm_, device_, std::chrono::seconds(5), false).transport != nullptr;
  EXPECT_TRUE(own_devices || !shared_);
  EXPECT_EQ(starts_with(HaloWay::automatic, device_), own_devices ? "peer" : "staged");
  EXPECT_EQ(starts_with(HaloWay::peer, device_), "peer");
  EXPECT_EQ(starts_with(HaloWay::staged, device_), "staged");
  // Where one rank's memory is closed, all ranks take the other way.
  const std::shared_ptr<Device> closed = std::make_shared<test::SharedMemoryDevice>(true);
  EXPECT_EQ(starts_with(HaloWay::peer, comm_.is_root() ? closed : device_), "staged");
  const std::shared_ptr<Device> host = make_device(Backend::host, 0);
  EXPECT_EQ(starts_with(HaloWay::automatic, host), "");
  EXPECT_EQ(starts_with(HaloWay::peer, host), "staged");
}

}  // namespace
}  // namespace block_eigs
