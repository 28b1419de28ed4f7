#pragma once

#include "spmm/device/device.hpp"

namespace block_eigs {

/// Whether `backend` allows for a GPU and this build has a backend for one: known without asking a driver.
bool may_be_gpu(Backend backend);

}  // namespace block_eigs
