#pragma once

#include <memory>

#include "spmm/cuda/runtime/cuda_device.hpp"
#include "spmm/device/device_messages.hpp"

namespace block_eigs::cuda {

/// By NVIDIA's NCCL, which is looked for when this is called: programs are not linked with it. Throws RunError
/// that says what is missing, also where the build had no header of NCCL.
std::unique_ptr<DeviceMessages> make_nccl_messages(CudaDevice& device);

}  // namespace block_eigs::cuda
