#include "solver/proof/sum_operator.hpp"

namespace block_eigs {

template <class T>
void SumOperator<T>::apply(ConstBlockView<T> x, BlockView<T> y) {
  if (image_.cols() < x.cols) image_ = space_.make_block(x.cols);
  const BlockView<T> bx = image_.columns(0, x.cols);
  a_.apply(x, y);
  b_.apply(x, bx);
  space_.kernels().axpby(t_, bx, 1.0, y);
}

template <class T>
void SumOperator<T>::reserve(LocalIndex columns) {
  a_.reserve(columns);
  b_.reserve(columns);
  if (image_.cols() < columns) image_ = space_.make_block(columns);
}

template class SumOperator<float>;
template class SumOperator<double>;

}  // namespace block_eigs
