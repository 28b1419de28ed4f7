#include "spmm/matrix/column_copies.hpp"

#include <cstddef>

namespace block_eigs {

namespace {

/// Elements from the first to the last of a view.
template <class T>
std::size_t extent(ConstBlockView<T> view) {
  if (view.rows == 0 || view.cols == 0) return 0;
  return static_cast<std::size_t>(view.rows - 1) * static_cast<std::size_t>(view.stride) +
         static_cast<std::size_t>(view.cols);
}

}  // namespace

template <class T>
T* ColumnCopies<T>::stage(ConstBlockView<T> view) {
  if (staging_.size() < extent(view)) staging_ = StagingBuffer<T>(device_, extent(view));
  return staging_.data();
}

template <class T>
void ColumnCopies<T>::fetch(T* to, ConstBlockView<T> view) {
  device_->copy_to_host(to, view.data, extent(view) * sizeof(T), Queue::compute);
  device_->synchronize(Queue::compute);
}

template <class T>
void ColumnCopies<T>::give(ConstBlockView<T> x, double* columns) {
  const T* from = x.data;
  if (!device_->host_addressable() && extent(x) > 0) {
    T* staged = stage(x);
    fetch(staged, x);
    from = staged;
  }
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < x.rows; ++i) {
    const T* row = from + std::ptrdiff_t{i} * x.stride;
    for (LocalIndex j = 0; j < x.cols; ++j) columns[i + std::ptrdiff_t{j} * x.rows] = row[j];
  }
}

template <class T>
void ColumnCopies<T>::take(const double* columns, BlockView<T> y, double sign) {
  const bool on_host = device_->host_addressable();
  const ConstBlockView<T> whole = y;
  T* to = on_host ? y.data : stage(whole);
  // The columns between those of a view belong to others: on a GPU they go along in their present state.
  if (!on_host && y.stride != y.cols && extent(whole) > 0) fetch(to, whole);
#pragma omp parallel for schedule(static)
  for (LocalIndex i = 0; i < y.rows; ++i) {
    T* row = to + std::ptrdiff_t{i} * y.stride;
    for (LocalIndex j = 0; j < y.cols; ++j)
      row[j] = static_cast<T>(sign * columns[i + std::ptrdiff_t{j} * y.rows]);
  }
  if (on_host || extent(whole) == 0) return;
  device_->copy_to_device(y.data, to, extent(whole) * sizeof(T), Queue::compute);
  device_->synchronize(Queue::compute);
}

template class ColumnCopies<float>;
template class ColumnCopies<double>;

}  // namespace block_eigs
