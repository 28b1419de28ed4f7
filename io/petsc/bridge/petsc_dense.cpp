#include "io/petsc/bridge/petsc_dense.hpp"

#include <petscmat.h>

#include "io/petsc/bridge/petsc_check.hpp"

namespace block_eigs::petsc {

namespace {

constexpr const char* handing_over = "handing a block to PETSc";

/// Of these values, which stay the caller's.
OwnedMat dense(const Communicator& comm, LocalIndex rows, LocalIndex columns, std::vector<double>& values) {
  Mat block = nullptr;
  check(MatCreateDense(comm.handle(), rows, PETSC_DECIDE, PETSC_DETERMINE, columns, values.data(), &block),
        handing_over);
  OwnedMat owned(block);
  check(MatAssemblyBegin(block, MAT_FINAL_ASSEMBLY), handing_over);
  check(MatAssemblyEnd(block, MAT_FINAL_ASSEMBLY), handing_over);
  return owned;
}

}  // namespace

template <class T>
void DenseBlocks<T>::reserve(LocalIndex columns) {
  if (columns <= reserved_) return;
  // The matrices have the memory of before. On ranks without rows, too: making others is collective.
  columns_ = -1;
  given_.reset();
  taken_.reset();
  // One number at least: PETSc takes memory of its own where the pointer is null.
  const std::size_t count = static_cast<std::size_t>(rows_) * static_cast<std::size_t>(columns) + 1;
  comm_.collectively([&] {
    given_values_.resize(count);
    taken_values_.resize(count);
  });
  reserved_ = columns;
}

template <class T>
void DenseBlocks<T>::make(LocalIndex columns) {
  if (columns_ == columns) return;
  reserve(columns);
  given_ = dense(comm_, rows_, columns, given_values_);
  taken_ = dense(comm_, rows_, columns, taken_values_);
  columns_ = columns;
}

template <class T>
void DenseBlocks<T>::give(ConstBlockView<T> x) {
  make(x.cols);
  PetscScalar* to = nullptr;
  check(MatDenseGetArrayWrite(given_.get(), &to), handing_over);
  copies_.give(x, to);
  check(MatDenseRestoreArrayWrite(given_.get(), &to), handing_over);
}

template <class T>
void DenseBlocks<T>::take(BlockView<T> y) {
  const PetscScalar* from = nullptr;
  check(MatDenseGetArrayRead(taken_.get(), &from), handing_over);
  copies_.take(from, y);
  check(MatDenseRestoreArrayRead(taken_.get(), &from), handing_over);
}

template class DenseBlocks<float>;
template class DenseBlocks<double>;

}  // namespace block_eigs::petsc
