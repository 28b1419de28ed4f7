#pragma once

#include "spmm/cuda/workspace.hpp"
#include "spmm/types.hpp"

namespace block_eigs::cuda {

/// results = [left]^T [right], column-major in page-locked memory, complete once the compute queue is.
template <class T>
void gram(CudaDevice& device, Workspace& workspace, const ConstBlockList<T>& left, const ConstBlockList<T>& right,
          double* results);

}  // namespace block_eigs::cuda
