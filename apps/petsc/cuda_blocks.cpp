#include "apps/petsc/cuda_blocks.hpp"

#include <petscmat.h>

#include "io/petsc/bridge/petsc_check.hpp"
#include "io/petsc/bridge/petsc_columns.hpp"

namespace block_eigs::petsc {

namespace {

OwnedMat cuda_block(const Communicator& comm, LocalIndex rows, LocalIndex columns) {
  constexpr const char* making = "making a block on PETSc's GPU";
  Mat block = nullptr;
  check(MatCreate(comm.handle(), &block), making);
  OwnedMat owned(block);
  check(MatSetSizes(block, rows, PETSC_DECIDE, PETSC_DETERMINE, columns), making);
  check(MatSetType(block, MATDENSECUDA), making);
  check(MatSetUp(block), making);
  check(MatAssemblyBegin(block, MAT_FINAL_ASSEMBLY), making);
  check(MatAssemblyEnd(block, MAT_FINAL_ASSEMBLY), making);
  return owned;
}

}  // namespace

void CudaBlocks::reserve(LocalIndex columns) {
  if (columns == columns_) return;
  columns_ = -1;
  given_.reset();
  taken_.reset();
  given_ = cuda_block(context_.comm, rows_, columns);
  taken_ = cuda_block(context_.comm, rows_, columns);
  columns_ = columns;
}

void CudaBlocks::give(ConstBlockView<double> x) {
  reserve(x.cols);
  give_columns(context_, x, given_.get());
}

void CudaBlocks::take(BlockView<double> y) { take_columns(context_, taken_.get(), y); }

}  // namespace block_eigs::petsc
