#pragma once

#include <memory>

#include "spmm/cuda/runtime/cuda_device.hpp"
#include "spmm/device/peer_memory.hpp"

namespace block_eigs::cuda {

/// CUDA IPC between the processes of a node, on one GPU or on several; flags are set and waited for by the streams
/// themselves (stream memory operations). Null where the driver has no such operations. The GPU is current.
std::unique_ptr<PeerMemory> make_peer_memory(CudaDevice& device);

}  // namespace block_eigs::cuda
