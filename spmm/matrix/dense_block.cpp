#include "spmm/matrix/dense_block.hpp"

#include <algorithm>
#include <cassert>

#include "spmm/large_vectors.hpp"

namespace block_eigs {

template <class T>
std::vector<T> DenseBlock<T>::to_host() const {
  std::vector<T> values;
  resize_large(values, static_cast<std::size_t>(rows_) * static_cast<std::size_t>(cols_));
  rows_to_host(0, rows_, values.data());
  return values;
}

template <class T>
void DenseBlock<T>::rows_to_host(LocalIndex first, LocalIndex count, T* values) const {
  if (count == 0 || cols_ == 0) return;
  assert(first >= 0 && first + count <= rows_);
  const auto stride = static_cast<std::size_t>(stride_);
  const auto cols = static_cast<std::size_t>(cols_);
  const T* source = buffer_.data() + static_cast<std::size_t>(first) * stride;
  if (stride == cols) {
    Device& device = *buffer_.device();
    device.copy_to_host(values, source, static_cast<std::size_t>(count) * cols * sizeof(T), Queue::compute);
    device.synchronize(Queue::compute);
    return;
  }
  // Padding goes along: one long copy, a bounded piece at a time, beats many short ones.
  const auto piece = std::max<std::size_t>(1, (std::size_t{16} << 20) / (stride * sizeof(T)));
  std::vector<T> padded_rows(std::min(piece, static_cast<std::size_t>(count)) * stride);
  for (std::size_t done = 0; done < static_cast<std::size_t>(count); done += piece) {
    const std::size_t now = std::min(piece, static_cast<std::size_t>(count) - done);
    Device& device = *buffer_.device();
    device.copy_to_host(padded_rows.data(), source + done * stride, now * stride * sizeof(T), Queue::compute);
    device.synchronize(Queue::compute);
    for (std::size_t i = 0; i < now; ++i) {
      std::copy_n(padded_rows.data() + i * stride, cols, values + (done + i) * cols);
    }
  }
}

template <class T>
void DenseBlock<T>::from_host(const T* values) {
  if (stride_ == cols_) {
    buffer_.upload(values);
    return;
  }
  std::vector<T> padded_rows(buffer_.size(), T{0});
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows_); ++i) {
    std::copy_n(values + i * static_cast<std::size_t>(cols_), cols_,
                padded_rows.data() + i * static_cast<std::size_t>(stride_));
  }
  buffer_.upload(padded_rows.data());
}

template class DenseBlock<float>;
template class DenseBlock<double>;

}  // namespace block_eigs
