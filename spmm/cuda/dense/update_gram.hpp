#pragma once

#include "spmm/cuda/runtime/workspace.hpp"
#include "spmm/device/kernels.hpp"
#include "spmm/small_matrix.hpp"
#include "spmm/types.hpp"

namespace block_eigs::cuda {

/// Update, scaling and products of Kernels::update_gram in one pass for one output of at most 16 columns, `left`;
/// hands the products over to the host. Returns false, and has done nothing, where that is not what is asked for.
template <class T>
bool update_gram(CudaDevice& device, Workspace& workspace, const ConstBlockList<T>& in,
                 const SmallMatrix& coefficients, const BlockList<T>& out, const RowScaling<T>& scaling,
                 const ConstBlockList<T>& left, const ConstBlockList<T>& right, const HandOver& products);

}  // namespace block_eigs::cuda
