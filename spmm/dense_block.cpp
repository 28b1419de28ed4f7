#include "spmm/dense_block.hpp"

#include <algorithm>

namespace block_eigs {

template <class T>
std::vector<T> DenseBlock<T>::to_host() const {
  std::vector<T> padded_rows(buffer_.size());
  buffer_.download(padded_rows.data());
  if (stride_ == cols_) return padded_rows;
  std::vector<T> values(static_cast<std::size_t>(rows_) * static_cast<std::size_t>(cols_));
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows_); ++i) {
    std::copy_n(padded_rows.data() + i * static_cast<std::size_t>(stride_), cols_,
                values.data() + i * static_cast<std::size_t>(cols_));
  }
  return values;
}

template <class T>
void DenseBlock<T>::from_host(const T* values) {
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
