#pragma once

#include "spmm/cuda/workspace.hpp"
#include "spmm/small_matrix.hpp"
#include "spmm/types.hpp"

namespace block_eigs::cuda {

/// [out] = [in] coefficients; every row's inputs are read before its outputs are written.
template <class T>
void update(CudaDevice& device, Workspace& workspace, const ConstBlockList<T>& in, const SmallMatrix& coefficients,
            const BlockList<T>& out);

}  // namespace block_eigs::cuda
