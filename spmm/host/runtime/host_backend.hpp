#pragma once

#include <memory>

#include "spmm/device/kernels.hpp"

namespace block_eigs::host {

std::shared_ptr<Device> make_device();

template <class T>
std::shared_ptr<Kernels<T>> make_kernels(std::shared_ptr<Device> device);

}  // namespace block_eigs::host
