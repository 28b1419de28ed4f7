#include "spmm/parallel/transport.hpp"

#include "spmm/parallel/staged_transport.hpp"

namespace block_eigs {

std::shared_ptr<Transport> make_transport(const Communicator& comm, const std::shared_ptr<Device>& device) {
  return make_staged_transport(comm, device);
}

}  // namespace block_eigs
