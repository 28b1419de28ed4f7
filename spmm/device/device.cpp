#include "spmm/device/device.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "spmm/cuda/runtime/cuda_backend.hpp"
#include "spmm/device/device_messages.hpp"
#include "spmm/device/gpu_backend.hpp"
#include "spmm/device/peer_memory.hpp"
#include "spmm/error.hpp"
#include "spmm/host/runtime/host_backend.hpp"

namespace block_eigs {

std::unique_ptr<PeerMemory> Device::make_peer_memory() { return nullptr; }

std::unique_ptr<DeviceMessages> Device::make_messages() { throw RunError("no messages go to and from " + name()); }

void Device::make_on_device(void* device, const ByteSource& source, std::size_t bytes, Queue queue) {
  constexpr std::size_t piece = std::size_t{4} << 20;
  std::vector<char> made(std::min(bytes, piece));
  for (std::size_t begin = 0; begin < bytes; begin += piece) {
    const std::size_t count = std::min(piece, bytes - begin);
    fill_in_parts(made.data(), source, begin, count);
    copy_to_device(static_cast<char*>(device) + begin, made.data(), count, queue);
    synchronize(queue);
  }
}

void fill_in_parts(char* to, const ByteSource& source, std::size_t begin, std::size_t count) {
  constexpr std::size_t part = std::size_t{64} << 10;
  const auto parts = static_cast<std::ptrdiff_t>((count + part - 1) / part);
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t i = 0; i < parts; ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * part;
    source(to + at, begin + at, std::min(part, count - at));
  }
}

namespace {

bool uses_cuda(Backend backend) {
  return backend == Backend::cuda || (backend == Backend::automatic && cuda::device_count() > 0);
}

}  // namespace

bool may_be_gpu(Backend backend) { return backend != Backend::host && cuda::is_built(); }

std::shared_ptr<Device> make_device(Backend backend, int node_rank) {
  return uses_cuda(backend) ? cuda::make_device(node_rank) : host::make_device();
}

std::shared_ptr<Device> kept_device(Backend backend, int node_rank) {
  return uses_cuda(backend) ? cuda::kept_device(node_rank) : host::make_device();
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
