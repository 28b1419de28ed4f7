#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "spmm/parallel/transport.hpp"

namespace block_eigs {

/// Nonblocking MPI point-to-point messages. On a GPU packed rows travel device -> page-locked memory -> MPI ->
/// page-locked memory -> device in the transfer queue; on the host the packed rows and the ghosts are the message
/// buffers themselves. Works everywhere. `patience`: how long a channel that is given up waits for its neighbours;
/// `description`: what it says of itself. Not collective.
std::shared_ptr<Transport> make_staged_transport(const Communicator& comm, const std::shared_ptr<Device>& device,
                                                 std::chrono::duration<double> patience = std::chrono::seconds(5),
                                                 std::string description = {});

}  // namespace block_eigs
