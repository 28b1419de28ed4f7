#pragma once

#include <memory>

#include "spmm/device/peer_memory.hpp"

namespace block_eigs::host {

/// Memory that the processes of a node share. Queues run at once here, so that `wait` keeps the calling thread.
/// `device` outlives it.
std::unique_ptr<PeerMemory> make_peer_memory(const Device& device);

}  // namespace block_eigs::host
