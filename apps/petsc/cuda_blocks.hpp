#pragma once

#include "io/petsc/bridge/petsc_matrix.hpp"
#include "spmm/parallel/context.hpp"
#include "spmm/types.hpp"

namespace block_eigs::petsc {

/// As DenseBlocks, two dense matrices of PETSc's, here of its CUDA type: operators whose vectors are on the GPU
/// take no others. Where the context's device is that GPU nothing leaves it.
class CudaBlocks {
 public:
  /// Of `rows` rows of the calling rank.
  CudaBlocks(const Context<double>& context, LocalIndex rows) : context_(context), rows_(rows) {}

  /// Makes the matrices. Collective; throws RunError where PETSc fails.
  void reserve(LocalIndex columns);
  /// `x`, any number of columns, becomes given(); taken() has as many then. Collective; throws RunError where
  /// PETSc fails.
  void give(ConstBlockView<double> x);
  _p_Mat* given() const { return given_.get(); }
  _p_Mat* taken() const { return taken_.get(); }
  /// y = taken(). Throws RunError where PETSc fails.
  void take(BlockView<double> y);

 private:
  Context<double> context_;
  LocalIndex rows_;
  LocalIndex columns_ = -1;  ///< of the matrices
  OwnedMat given_;
  OwnedMat taken_;
};

}  // namespace block_eigs::petsc
