#include "io/petsc/bridge/petsc_dense.hpp"

#include <petscmat.h>

#include "io/petsc/bridge/petsc_check.hpp"
#include "spmm/device/device.hpp"

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

/// Elements from the first to the last of a view.
template <class T>
std::size_t extent(ConstBlockView<T> view) {
  if (view.rows == 0 || view.cols == 0) return 0;
  return static_cast<std::size_t>(view.rows - 1) * static_cast<std::size_t>(view.stride) +
         static_cast<std::size_t>(view.cols);
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
  context_.comm.collectively([&] {
    given_values_.resize(count);
    taken_values_.resize(count);
  });
  reserved_ = columns;
}

template <class T>
void DenseBlocks<T>::make(LocalIndex columns) {
  if (columns_ == columns) return;
  reserve(columns);
  given_ = dense(context_.comm, rows_, columns, given_values_);
  taken_ = dense(context_.comm, rows_, columns, taken_values_);
  columns_ = columns;
}

/// Page-locked memory for a view of a GPU's.
template <class T>
T* DenseBlocks<T>::stage(ConstBlockView<T> view) {
  if (staging_.size() < extent(view)) staging_ = StagingBuffer<T>(context_.device, extent(view));
  return staging_.data();
}

template <class T>
void DenseBlocks<T>::give(ConstBlockView<T> x) {
  make(x.cols);
  const T* from = x.data;
  if (!context_.device->host_addressable() && extent(x) > 0) {
    T* staged = stage(x);
    context_.device->copy_to_host(staged, x.data, extent(x) * sizeof(T), Queue::compute);
    context_.device->synchronize(Queue::compute);
    from = staged;
  }
  PetscScalar* to = nullptr;
  check(MatDenseGetArrayWrite(given_.get(), &to), handing_over);
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < x.rows; ++i) {
    const T* row = from + std::ptrdiff_t{i} * x.stride;
    for (LocalIndex j = 0; j < x.cols; ++j) to[i + std::ptrdiff_t{j} * rows_] = row[j];
  }
  check(MatDenseRestoreArrayWrite(given_.get(), &to), handing_over);
}

template <class T>
void DenseBlocks<T>::take(BlockView<T> y, double sign) {
  const bool on_host = context_.device->host_addressable();
  // The columns between those of a view belong to others: on a GPU they go along in their present state.
  const ConstBlockView<T> whole = y;
  T* to = on_host ? y.data : stage(whole);
  if (!on_host && y.stride != y.cols && extent(whole) > 0) {
    context_.device->copy_to_host(to, y.data, extent(whole) * sizeof(T), Queue::compute);
    context_.device->synchronize(Queue::compute);
  }
  const PetscScalar* from = nullptr;
  check(MatDenseGetArrayRead(taken_.get(), &from), handing_over);
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < y.rows; ++i) {
    T* row = to + std::ptrdiff_t{i} * y.stride;
    for (LocalIndex j = 0; j < y.cols; ++j) row[j] = static_cast<T>(sign * from[i + std::ptrdiff_t{j} * rows_]);
  }
  check(MatDenseRestoreArrayRead(taken_.get(), &from), handing_over);
  if (on_host || extent(whole) == 0) return;
  context_.device->copy_to_device(y.data, to, extent(whole) * sizeof(T), Queue::compute);
  context_.device->synchronize(Queue::compute);
}

template class DenseBlocks<float>;
template class DenseBlocks<double>;

}  // namespace block_eigs::petsc
