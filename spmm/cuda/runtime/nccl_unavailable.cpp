#include "spmm/cuda/runtime/nccl_messages.hpp"
#include "spmm/error.hpp"

// Stands in for nccl_messages.cpp where the build found no nccl.h.
namespace block_eigs::cuda {

std::unique_ptr<DeviceMessages> make_nccl_messages(CudaDevice&) { throw RunError("this build has no NCCL"); }

}  // namespace block_eigs::cuda
