#pragma once

#include <chrono>
#include <memory>

#include "spmm/parallel/transport_attempt.hpp"

namespace block_eigs {

/// Messages that the devices' queues send and receive by themselves (DeviceMessages: NCCL), between nodes and
/// within one: packed rows lie in device memory, one call sends to all neighbours and receives from them. No host
/// waits and nothing crosses to host memory but where the network asks for it. Takes a device a rank. Found out by
/// trying, one message in a ring. `patience`: how long a channel that is given up waits for its neighbours.
/// Collective.
TransportAttempt make_nccl_transport(const Communicator& comm, const std::shared_ptr<Device>& device,
                                     std::chrono::duration<double> patience = std::chrono::seconds(5));

}  // namespace block_eigs
