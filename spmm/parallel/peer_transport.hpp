#pragma once

#include <chrono>
#include <memory>

#include "spmm/parallel/transport_attempt.hpp"

namespace block_eigs {

/// Ranks of one node whose devices reach each other's memory: packing stores rows straight into the neighbour's
/// ghosts, a flag behind them says so, and the neighbour's queue waits for the flag. Of GPUs no host waits and
/// nothing crosses to host memory; on the host, where ranks share memory, the waiting rank does. Ghosts have two
/// slots that rounds take in turn; a flag the other way says that a slot was read where no rows go that way, a
/// round before its writer needs to know. Channels of a transport take their memory from a store that keeps it
/// until the last of them is gone. Found out by trying: every rank writes a flag of every other one. `patience`:
/// how long a channel that is given up waits for its neighbours; `may_share`: whether ranks may share a device,
/// which works, but a device that runs processes by turns gives a waiting queue its whole turn. Collective.
TransportAttempt make_peer_transport(const Communicator& comm, const std::shared_ptr<Device>& device,
                                     std::chrono::duration<double> patience = std::chrono::seconds(5),
                                     bool may_share = true);

}  // namespace block_eigs
