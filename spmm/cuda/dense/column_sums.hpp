#pragma once

#include "spmm/cuda/runtime/workspace.hpp"
#include "spmm/types.hpp"

// Launchers of the kernels that sum over the rows of each column, in double and in an order that the shapes fix.
namespace block_eigs::cuda {

/// Hands sum_p partial[p * count + k], p < parts, k < count, over to the host.
void sum_parts(CudaDevice& device, const double* partial, int parts, int count, const HandOver& sums);

/// dots[j] = sum_i x(i, j) y(i, j)
template <class T>
void column_dots(CudaDevice& device, Workspace& workspace, ConstBlockView<T> x, ConstBlockView<T> y,
                 const HandOver& dots);

/// r = ax - bx diag(lambda), squared_norms[j] = sum_i r(i, j)^2; lambda in device memory.
template <class T>
void residual(CudaDevice& device, Workspace& workspace, ConstBlockView<T> ax, ConstBlockView<T> bx,
              const double* lambda, BlockView<T> r, const HandOver& squared_norms);

}  // namespace block_eigs::cuda
