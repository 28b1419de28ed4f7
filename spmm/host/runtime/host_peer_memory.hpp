#pragma once

#include <memory>

#include "spmm/device/peer_memory.hpp"

namespace block_eigs::host {

/// Memory that the processes of a node share. Queues run at once here, so that `wait` keeps the calling thread.
/// `device` outlives it. Throws RunError where the limits of this process leave it too few files, or too small
/// ones, for the memory that a solver may want.
std::unique_ptr<PeerMemory> make_peer_memory(const Device& device);

}  // namespace block_eigs::host
