#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "spmm/parallel/transport.hpp"

namespace block_eigs::bench {

/// What went through a transport on this rank.
struct HaloCount {
  std::int64_t rounds = 0;    ///< halo exchanges with a neighbour at least
  std::int64_t messages = 0;  ///< received
  std::int64_t bytes = 0;     ///< received
};

/// A transport that counts what goes through it.
class CountedTransport final : public Transport {
 public:
  explicit CountedTransport(std::shared_ptr<Transport> transport);

  std::unique_ptr<Channel> make_channel(std::shared_ptr<const HaloPlan> plan) override;
  std::string description() const override { return transport_->description(); }
  const HaloCount& count() const { return *count_; }

 private:
  std::shared_ptr<Transport> transport_;
  std::shared_ptr<HaloCount> count_ = std::make_shared<HaloCount>();
};

}  // namespace block_eigs::bench
