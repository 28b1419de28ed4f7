#include "spmm/parallel/peer_transport.hpp"

#include <sys/resource.h>

#include <chrono>
#include <limits>
#include <string>

#include "tests/support/halo_transport_test.hpp"
#include "tests/support/shared_memory_device.hpp"

// Rows that are stored straight into the memory of a neighbour: on the host, with queues that seem to be those of
// a GPU, and on GPUs, as many as there are.
namespace block_eigs {
namespace {

using test::Place;

class PeerTransportTest : public test::HaloTransportTest {
 protected:
  void SetUp() override {
    const Backend backend = GetParam() == Place::host ? Backend::host : Backend::cuda;
    if (!choose_device(std::make_shared<test::SharedMemoryDevice>(backend)))
      GTEST_SKIP() << "this machine has no GPU, or this build no CUDA backend: nothing was tested";
    TransportAttempt attempt = make_peer_transport(comm_, device_, std::chrono::seconds(60));
    ASSERT_TRUE(attempt.transport) << attempt.why_not;
    transport_ = std::move(attempt.transport);
  }
};

INSTANTIATE_TEST_SUITE_P(Places, PeerTransportTest, ::testing::Values(Place::host, Place::stand_in, Place::gpu),
                         test::name_of_place);

TEST_P(PeerTransportTest, DeliversDoubles) { exchange_by_random_plans<double>(); }
TEST_P(PeerTransportTest, DeliversFloats) { exchange_by_random_plans<float>(); }
TEST_P(PeerTransportTest, NobodyOverwritesWhatWasNotRead) { overwrite_nothing_unread(); }
TEST_P(PeerTransportTest, ChannelsTakeTurnsAndComeAndGo) { let_channels_come_and_go(); }
TEST_P(PeerTransportTest, AnExchangeCutShortLeavesNothingBehind) { cut_exchanges_short(); }

TEST_P(PeerTransportTest, ProductsMakeTheHostWaitForNothing) {
  if (ranks() == 1 && stand_in_) GTEST_SKIP() << "the rows of one rank would be taken apart on a GPU";
  multiply_without_the_host();
}

TEST_P(PeerTransportTest, IsDeadAfterANeighbourDidNotAnswer) {
  if (ranks() == 1) GTEST_SKIP() << "no neighbours";
  const DenseBlock<double> x = block<double>(0, 3);
  {
    const auto impatient = make_peer_transport(comm_, device_, std::chrono::milliseconds(50)).transport;
    HaloExchange<double> exchange(context<double>(impatient), ring().plan);
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
  if (ranks() == 1 || !stand_in_) GTEST_SKIP() << "nothing to reserve, or memory for all";
  const Wish wish = ring();
  HaloExchange<double> exchange = exchange_of<double>(wish);
  if (comm_.rank() == ranks() - 1) stand_in_->room = 10;
  EXPECT_THROW(exchange.reserve(1000), OnAllRanks);
  stand_in_->room = std::numeric_limits<std::size_t>::max();
  exchange.reserve(1000);
  const int before = stand_in_->allocations;
  const DenseBlock<double> x = block<double>(5, 1000);
  const int own = stand_in_->allocations - before;
  exchange.begin(x.view());
  expect_rows<double>(exchange.finish(), wish.rows, 5);
  EXPECT_EQ(stand_in_->allocations, before + own);
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
  EXPECT_TRUE(own_devices || !stand_in_);
  // On the host nothing is said of what everybody expects.
  const bool on_host = GetParam() == Place::host;
  const std::string peer = on_host ? "" : "peer";
  EXPECT_EQ(starts_with(HaloWay::automatic, device_), own_devices ? peer : "staged");
  EXPECT_EQ(starts_with(HaloWay::peer, device_), peer);
  EXPECT_EQ(starts_with(HaloWay::staged, device_), on_host ? "" : "staged");
  // Where one rank's memory is closed, all ranks take the other way.
  const std::shared_ptr<Device> closed = std::make_shared<test::SharedMemoryDevice>(device_->backend(), true);
  EXPECT_EQ(starts_with(HaloWay::peer, comm_.is_root() ? closed : device_), "staged");
  EXPECT_EQ(starts_with(HaloWay::automatic, comm_.is_root() ? closed : device_), "staged");
  // Nor do a host and GPUs reach each other's.
  const std::shared_ptr<Device> other =
      std::make_shared<test::SharedMemoryDevice>(on_host ? Backend::cuda : Backend::host);
  EXPECT_EQ(starts_with(HaloWay::peer, comm_.is_root() ? other : device_), "staged");
}

// Memory that processes share counts as files. A rank that may not have enough of it says so before anybody counts
// on it.
TEST_P(PeerTransportTest, MessagesTakeOverWhereARankMayHaveFewFiles) {
  if (ranks() == 1 || GetParam() == Place::gpu) GTEST_SKIP() << "no neighbours, or memory that is no files";
  const auto why_not_under = [&](auto resource, rlim_t most) {
    rlimit before{};
    getrlimit(resource, &before);
    const rlimit few{most, before.rlim_max};
    if (comm_.rank() == ranks() - 1) setrlimit(resource, &few);
    const TransportAttempt attempt = make_peer_transport(comm_, device_, std::chrono::seconds(5));
    setrlimit(resource, &before);
    return attempt.why_not;
  };
  EXPECT_NE(why_not_under(RLIMIT_NOFILE, 100).find("ulimit -n"), std::string::npos);
  EXPECT_NE(why_not_under(RLIMIT_FSIZE, 100'000'000).find("ulimit -f"), std::string::npos);
  EXPECT_TRUE(make_peer_transport(comm_, device_, std::chrono::seconds(5)).transport);
}

}  // namespace
}  // namespace block_eigs
