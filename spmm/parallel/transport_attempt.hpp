#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "spmm/device/peer_memory.hpp"
#include "spmm/parallel/transport.hpp"

namespace block_eigs {

/// A note that every rank has for every other one.
using Words = std::vector<std::vector<std::int64_t>>;

/// A transport, or why there is none; the same on all ranks.
struct TransportAttempt {
  std::shared_ptr<Transport> transport;
  std::string why_not;
};

/// Runs a step that may fail on some ranks alone; returns why on all of them, empty where it did not. Collective.
std::string failure_of(const Communicator& comm, const std::function<void()>& step);

/// Whether two ranks have the same device. Collective.
bool share_devices(const Communicator& comm, const DeviceNumber& number);

}  // namespace block_eigs
