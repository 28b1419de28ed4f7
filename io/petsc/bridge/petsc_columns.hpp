#pragma once

#include "io/petsc/bridge/petsc_handles.hpp"
#include "spmm/device/kernels.hpp"
#include "spmm/parallel/context.hpp"

// Own rows of vectors and dense matrices, which PETSc has by columns, into blocks of ours and back. Blocks are in
// memory of the context's device. Where that is a GPU it is the one of gpu_of_petsc(): what PETSc has on it stays
// there, in the order of PETSc's streams. All else goes through host memory. Not collective; throws RunError where
// PETSc fails.
namespace block_eigs::petsc {

/// y = the vector, or the columns of the dense matrix.
void take_columns(const Context<double>& context, _p_Vec* from, BlockView<double> y);
void take_columns(const Context<double>& context, _p_Mat* from, BlockView<double> y);

/// The vector, or the columns of the dense matrix, = x.
void give_columns(const Context<double>& context, ConstBlockView<double> x, _p_Vec* to);
void give_columns(const Context<double>& context, ConstBlockView<double> x, _p_Mat* to);

/// Whether what `a` multiplies and makes are vectors of PETSc's CUDA types (MatGetVecType).
bool has_vectors_on_gpu(_p_Mat* a);

}  // namespace block_eigs::petsc
