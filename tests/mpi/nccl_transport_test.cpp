#include "spmm/parallel/nccl_transport.hpp"

#include <chrono>
#include <functional>
#include <string>

#include "tests/support/halo_transport_test.hpp"
#include "tests/support/mpi_messages_device.hpp"

// Rows that queues send by themselves: by messages of MPI in the place of NCCL's on the host, and on GPUs where
// every rank has its own.
namespace block_eigs {
namespace {

using test::Place;

class NcclTransportTest : public test::HaloTransportTest {
 protected:
  void SetUp() override {
    const auto messenger = std::make_shared<test::MpiMessagesDevice>(comm_.handle());
    if (!choose_device(messenger))
      GTEST_SKIP() << "this machine has no GPU, or this build no CUDA backend: nothing was tested";
    if (stand_in_) messenger_ = messenger;
    TransportAttempt attempt = make_nccl_transport(comm_, device_, std::chrono::seconds(60));
    if (!stand_in_ && !attempt.transport) GTEST_SKIP() << "nothing was tested: " << attempt.why_not;
    ASSERT_TRUE(attempt.transport) << attempt.why_not;
    transport_ = std::move(attempt.transport);
  }

  /// Whether that throws in the end.
  static bool fails_soon(const std::function<void()>& step) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < deadline) {
      try {
        step();
      } catch (const RunError&) {
        return true;
      }
    }
    return false;
  }

  std::shared_ptr<test::MpiMessagesDevice> messenger_;  ///< null on a GPU
};

INSTANTIATE_TEST_SUITE_P(Places, NcclTransportTest, ::testing::Values(Place::stand_in, Place::gpu),
                         test::name_of_place);

TEST_P(NcclTransportTest, DeliversDoubles) { exchange_by_random_plans<double>(); }
TEST_P(NcclTransportTest, DeliversFloats) { exchange_by_random_plans<float>(); }
TEST_P(NcclTransportTest, NobodyOverwritesWhatWasNotRead) { overwrite_nothing_unread(); }
TEST_P(NcclTransportTest, ChannelsTakeTurnsAndComeAndGo) { let_channels_come_and_go(); }
TEST_P(NcclTransportTest, AnExchangeCutShortLeavesNothingBehind) { cut_exchanges_short(); }

TEST_P(NcclTransportTest, ProductsMakeTheHostWaitForNothing) {
  if (ranks() == 1 && stand_in_) GTEST_SKIP() << "the rows of one rank would be taken apart on a GPU";
  multiply_without_the_host();
}

// A rank that has failed never comes to its first round with a neighbour, who gives up what it has opened. The
// patience for a round that all go on with is ten minutes.
TEST_P(NcclTransportTest, AFirstRoundThatIsGivenUpIsNotWaitedForLong) {
  if (ranks() == 1 || !stand_in_) GTEST_SKIP() << "no neighbours, or GPUs whose connection would be lost";
  const auto impatient = make_nccl_transport(comm_, device_, std::chrono::milliseconds(50)).transport;
  const auto channel = impatient->make_channel(std::make_shared<const HaloPlan>(ring().plan));
  channel->reserve(8);
  if (comm_.rank() < ranks() - 1) channel->open(8);
  if (comm_.rank() == ranks() - 2) {
    const auto begun = std::chrono::steady_clock::now();
    channel->give_up();
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
    EXPECT_THROW(channel->open(8), RunError);
  }
  comm_.barrier();
}

// What fails behind a launch shows as soon as the host asks for the rows, which would never come.
TEST_P(NcclTransportTest, AFailureBehindALaunchIsFound) {
  if (ranks() == 1 || !stand_in_) GTEST_SKIP() << "no neighbours, or messages that do not fail";
  transport_ = make_nccl_transport(comm_, device_, std::chrono::milliseconds(50)).transport;
  const Wish wish = ring();
  HaloExchange<double> exchange = exchange_of<double>(wish);
  expect_exchange<double>(exchange, wish, 1, 4);
  const DenseBlock<double> x = block<double>(2, 4);
  exchange.begin(x.view());
  comm_.barrier();
  if (comm_.is_root()) {
    messenger_->faults.behind_launch = true;
    EXPECT_THROW(exchange.finish(), RunError);
  }
  // For the others the connection is over too, and they find it so.
  EXPECT_TRUE(fails_soon([&] { exchange.finish(); }));
  exchange.give_up();
  EXPECT_THROW(exchange.begin(x.view()), RunError);
  comm_.barrier();
}

TEST_P(NcclTransportTest, IsTakenByNameOrNotAndSaysSo) {
  if (ranks() == 1) GTEST_SKIP() << "one rank exchanges nothing";
  const auto description = [&](const std::shared_ptr<Device>& device) {
    return make_transport(comm_, device, HaloWay::nccl)->description();
  };
  EXPECT_TRUE(description(device_).starts_with("nccl, ")) << description(device_);
  if (!messenger_) return;
  // Where one rank has no such messages, all ranks take the other way.
  const auto none = std::make_shared<test::StagedDevice>(Backend::cuda);
  EXPECT_TRUE(description(comm_.is_root() ? none : device_).starts_with("staged, ")) << description(device_);
  // Or where one fails as it is tried out.
  messenger_->faults.calls_before = comm_.is_root() ? 0 : -1;
  EXPECT_TRUE(description(device_).starts_with("staged, ")) << description(device_);
  messenger_->shared = true;
  EXPECT_EQ(description(device_), "staged, by MPI through host memory (ranks share a device)");
  EXPECT_EQ(description(make_device(Backend::host, 0)),
            "staged, by MPI through host memory (the ranks work on the host)");
}

}  // namespace
}  // namespace block_eigs
