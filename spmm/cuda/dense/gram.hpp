#pragma once

#include "spmm/cuda/runtime/workspace.hpp"
#include "spmm/types.hpp"

namespace block_eigs::cuda {

/// Hands [left]^T [right], column-major, over to the host.
template <class T>
void gram(CudaDevice& device, Workspace& workspace, const ConstBlockList<T>& left, const ConstBlockList<T>& right,
          const HandOver& results);

}  // namespace block_eigs::cuda
