#include "spmm/device/sparse_algebra.hpp"

#include <utility>

#include "spmm/cuda/runtime/cuda_backend.hpp"
#include "spmm/host/runtime/host_backend.hpp"

namespace block_eigs {

std::shared_ptr<SparseAlgebra> make_sparse_algebra(std::shared_ptr<Device> device) {
  if (device->backend() == Backend::cuda) return cuda::make_sparse_algebra(std::move(device));
  return host::make_sparse_algebra(std::move(device));
}

}  // namespace block_eigs
