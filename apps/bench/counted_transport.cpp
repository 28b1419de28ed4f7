#include "apps/bench/counted_transport.hpp"

#include <utility>

#include "spmm/parallel/halo_plan.hpp"

namespace block_eigs::bench {

namespace {

class CountedChannel final : public Channel {
 public:
  CountedChannel(std::unique_ptr<Channel> channel, const HaloPlan& plan, std::shared_ptr<HaloCount> count)
      : channel_(std::move(channel)),
        ghosts_(plan.ghosts()),
        sources_(static_cast<std::int64_t>(plan.sources().size())),
        count_(std::move(count)) {}

  void reserve(std::size_t row_bytes) override { channel_->reserve(row_bytes); }
  std::span<std::byte* const> open(std::size_t row_bytes) override {
    count_->rounds += sources_ > 0 ? 1 : 0;
    count_->messages += sources_;
    count_->bytes += ghosts_ * static_cast<std::int64_t>(row_bytes);
    return channel_->open(row_bytes);
  }
  Queue queue() const override { return channel_->queue(); }
  void send() override { channel_->send(); }
  void progress() override { channel_->progress(); }
  const std::byte* receive() override { return channel_->receive(); }
  void give_up() noexcept override { channel_->give_up(); }

 private:
  std::unique_ptr<Channel> channel_;
  std::int64_t ghosts_;
  std::int64_t sources_;
  std::shared_ptr<HaloCount> count_;
};

}  // namespace

CountedTransport::CountedTransport(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {}

std::unique_ptr<Channel> CountedTransport::make_channel(std::shared_ptr<const HaloPlan> plan) {
  const HaloPlan& known = *plan;
  std::unique_ptr<Channel> channel = transport_->make_channel(std::move(plan));
  return std::make_unique<CountedChannel>(std::move(channel), known, count_);
}

}  // namespace block_eigs::bench
