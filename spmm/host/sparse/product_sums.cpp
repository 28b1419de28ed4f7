#include "spmm/host/sparse/product_sums.hpp"

#include <algorithm>

#include "spmm/host/runtime/threads.hpp"

namespace block_eigs::host {

template <class T>
void ProductSums<T>::begin(const CsrView<T>& a, BlockView<T> y, const ProductStep<T>& step) {
  y_ = y;
  left_ = step.left;
  row_map_ = a.row_map;
  gamma_ = static_cast<T>(step.gamma);
  replaced_ = a.row_map == nullptr && step.gamma == 0.0;
  const auto parts = static_cast<std::size_t>(threads());
  changes_.assign(parts * step_size(), 0.0);
  if (replaced_) return gram_.begin_symmetric(left_, y, most_rows);
  old_rows_.resize(parts);
  for (Scratch& rows : old_rows_)
    rows.reserve<T>(static_cast<std::size_t>(most_rows + 1) * static_cast<std::size_t>(y.cols));
}

template <class T>
void ProductSums<T>::before(int part, LocalIndex begin, LocalIndex end) {
  if (replaced_) return;
  T* to = old_rows_[static_cast<std::size_t>(part)].template take<T>();
  for (LocalIndex row = begin; row < end; ++row, to += y_.cols) {
    std::copy_n(y_.data + static_cast<std::ptrdiff_t>(result_row(row)) * y_.stride, y_.cols, to);
  }
}

template <class T>
void ProductSums<T>::after(int part, LocalIndex begin, LocalIndex end) {
  if (replaced_) return gram_.add(part, begin, end);
  T* old = old_rows_[static_cast<std::size_t>(part)].template take<T>();
  for (LocalIndex row = begin; row < end; ++row, old += y_.cols) {
    const LocalIndex target = result_row(row);
    const T* now = y_.data + static_cast<std::ptrdiff_t>(target) * y_.stride;
    for (LocalIndex j = 0; j < y_.cols; ++j) old[j] = gamma_ == T(0) ? now[j] : now[j] - gamma_ * old[j];
    add(part, target, T(1), old);
  }
}

template <class T>
void ProductSums<T>::add(int part, LocalIndex row, T factor, const T* change) {
  const T* x = left_.data + static_cast<std::ptrdiff_t>(row) * left_.stride;
  double* sums = changes(part);
  for (LocalIndex j = 0; j < y_.cols; ++j, sums += left_.cols) {
    const double value = static_cast<double>(factor * change[j]);
    const LocalIndex rows = std::min(j + 1, left_.cols);
    for (LocalIndex i = 0; i < rows; ++i) sums[i] += static_cast<double>(x[i]) * value;
  }
}

template <class T>
void ProductSums<T>::finish(SmallMatrix& products) {
  if (replaced_) {
    gram_.finish(sums_);
  } else {
    sums_.resize(left_.cols, y_.cols);
  }
  for (std::size_t i = 0; i < changes_.size(); ++i) sums_.values()[i % step_size()] += changes_[i];
  for (int j = 0; j < sums_.cols(); ++j) {
    for (int i = 0; i < sums_.rows(); ++i) products(i, j) += i <= j ? sums_(i, j) : sums_(j, i);
  }
}

template class ProductSums<float>;
template class ProductSums<double>;

}  // namespace block_eigs::host
