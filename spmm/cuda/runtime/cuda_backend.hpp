#pragma once

#include <memory>

#include "spmm/device/kernels.hpp"
#include "spmm/device/sparse_algebra.hpp"

// Free of CUDA headers: either the CUDA backend or unavailable.cpp implements it.
namespace block_eigs::cuda {

/// Whether the build has the CUDA backend.
bool is_built();
/// GPUs that this process sees; 0 where the build has no CUDA backend.
int device_count();

/// Throws InputError that names what is needed and what there is.
std::shared_ptr<Device> make_device(int node_rank);
/// As block_eigs::kept_device.
std::shared_ptr<Device> kept_device(int node_rank);

template <class T>
std::shared_ptr<Kernels<T>> make_kernels(std::shared_ptr<Device> device);

std::shared_ptr<SparseAlgebra> make_sparse_algebra(std::shared_ptr<Device> device);

}  // namespace block_eigs::cuda
