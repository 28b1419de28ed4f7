#pragma once

#include <memory>

#include "spmm/parallel/halo_plan.hpp"
#include "spmm/parallel/peer_store.hpp"
#include "spmm/parallel/transport.hpp"

namespace block_eigs {

/// A channel of the peer transport, see make_peer_transport. Not collective.
std::unique_ptr<Channel> make_peer_channel(std::shared_ptr<PeerStore> store, std::shared_ptr<const HaloPlan> plan);

}  // namespace block_eigs
