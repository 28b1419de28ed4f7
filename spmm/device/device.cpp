#include "spmm/device/device.hpp"

#include <string>

#include "spmm/cuda/runtime/cuda_backend.hpp"
#include "spmm/device/device_messages.hpp"
#include "spmm/device/peer_memory.hpp"
#include "spmm/error.hpp"
#include "spmm/host/runtime/host_backend.hpp"

namespace block_eigs {

std::unique_ptr<PeerMemory> Device::make_peer_memory() { return nullptr; }

std::unique_ptr<DeviceMessages> Device::make_messages() { throw RunError("no messages go to and from " + name()); }

std::shared_ptr<Device> make_device(Backend backend, int node_rank) {
  const bool use_cuda = backend == Backend::cuda || (backend == Backend::automatic && cuda::device_count() > 0);
  return use_cuda ? cuda::make_device(node_rank) : host::make_device();
}

Backend backend_from_name(std::string_view name) {
  if (name == "auto") return Backend::automatic;
  if (name == "host") return Backend::host;
  if (name == "cuda") return Backend::cuda;
  throw InputError("unknown device '" + std::string(name) + "'; it is auto, host or cuda");
}

const char* name_of(Backend backend) {
  switch (backend) {
    case Backend::automatic:
      return "auto";
    case Backend::host:
      return "host";
    case Backend::cuda:
      return "cuda";
  }
  return "";
}

}  // namespace block_eigs
