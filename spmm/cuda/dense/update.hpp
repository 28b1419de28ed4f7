#pragma once

#include <span>

#include "spmm/cuda/runtime/workspace.hpp"
#include "spmm/small_matrix.hpp"
#include "spmm/types.hpp"

namespace block_eigs::cuda {

/// [out] = [in] coefficients for any number of columns; every row's inputs are read before its outputs are
/// written. What is too wide for one launch (more than some 1,000 outputs) is done in slabs of columns, then waits
/// for the GPU.
template <class T>
void update(CudaDevice& device, Workspace& workspace, const ConstBlockList<T>& in, const SmallMatrix& coefficients,
            const BlockList<T>& out);

/// What update_residual adds to an update: r = (first columns of out[0]) - bx diag(lambda).
template <class T>
struct ResidualPart {
  ConstBlockView<T> bx;
  std::span<const double> lambda;
  BlockView<T> r;
};

/// Update and residual in one pass; hands sum_i r(i, j)^2 over to the host. Returns false, and has done nothing,
/// where the shapes or overlaps do not allow one pass.
template <class T>
bool update_residual(CudaDevice& device, Workspace& workspace, const ConstBlockList<T>& in,
                     const SmallMatrix& coefficients, const BlockList<T>& out, const ResidualPart<T>& part,
                     const HandOver& squared_norms);

}  // namespace block_eigs::cuda
