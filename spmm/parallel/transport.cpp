#include "spmm/parallel/transport.hpp"

#include <utility>

#include "spmm/device/device.hpp"
#include "spmm/error.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/nccl_transport.hpp"
#include "spmm/parallel/peer_transport.hpp"
#include "spmm/parallel/staged_transport.hpp"

namespace block_eigs {

HaloWay halo_way_from_name(std::string_view name) {
  if (name == "auto") return HaloWay::automatic;
  if (name == "staged") return HaloWay::staged;
  if (name == "peer") return HaloWay::peer;
  if (name == "nccl") return HaloWay::nccl;
  throw InputError("unknown way of halos '" + std::string(name) + "'; it is auto, staged, peer or nccl");
}

std::shared_ptr<Transport> make_transport(const Communicator& comm, const std::shared_ptr<Device>& device,
                                          HaloWay way) {
  constexpr std::chrono::seconds patience(5);
  if (comm.size() == 1) return make_staged_transport(comm, device);
  const bool all_on_host = !comm.any(!device->host_addressable());
  const bool alike = all_on_host || !comm.any(device->host_addressable());
  const bool one_node = !comm.any(comm.node_size() < comm.size());
  std::string why = "asked for";
  if (way == HaloWay::peer || (way == HaloWay::automatic && (!all_on_host || one_node))) {
    TransportAttempt attempt{nullptr, "some ranks work on the host, others on GPUs"};
    if (alike) attempt = make_peer_transport(comm, device, patience, way == HaloWay::peer);
    if (attempt.transport) return attempt.transport;
    why = std::move(attempt.why_not);
  }
  if (way == HaloWay::nccl && all_on_host) why = "the ranks work on the host";
  if (!all_on_host && (way == HaloWay::nccl || (way == HaloWay::automatic && !one_node))) {
    TransportAttempt attempt = make_nccl_transport(comm, device, patience);
    if (attempt.transport) return attempt.transport;
    why = (way == HaloWay::nccl ? "" : why + "; ") + attempt.why_not;
  }
  // Between hosts nothing else is expected.
  const bool expected = all_on_host && (way == HaloWay::staged || (way == HaloWay::automatic && !one_node));
  return make_staged_transport(comm, device, patience,
                               expected ? "" : "staged, by MPI through host memory (" + why + ")");
}

}  // namespace block_eigs
