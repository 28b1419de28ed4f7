#pragma once

#include <memory>

#include "spmm/device/kernels.hpp"
#include "spmm/device/sparse_algebra.hpp"

namespace block_eigs::host {

std::shared_ptr<Device> make_device();

template <class T>
std::shared_ptr<Kernels<T>> make_kernels(std::shared_ptr<Device> device);

std::shared_ptr<SparseAlgebra> make_sparse_algebra(std::shared_ptr<Device> device);

}  // namespace block_eigs::host
