#include "solver/proof/deflation.hpp"

namespace block_eigs {

template <class T>
Deflation<T>::Deflation(BlockSpace<T>& space, LinearOperator<T>* b, ConstBlockView<T> v, ConstBlockView<T> more)
    : space_(space), v_(v), more_(more), bv_(v), bmore_(more) {
  if (b == nullptr) return;
  storage_ = space.make_block(v.cols);
  b->apply(v, storage_.view());
  bv_ = storage_.view();
  if (more.cols == 0) return;
  more_storage_ = space.make_block(more.cols);
  b->apply(more, more_storage_.view());
  bmore_ = more_storage_.view();
}

template <class T>
void Deflation<T>::remove_from(BlockView<T> x) {
  SmallMatrix components;
  space_.gram(images(), {x}, components);
  const int deflated = components.rows();
  SmallMatrix coefficients(deflated + x.cols, x.cols);
  for (int j = 0; j < x.cols; ++j) {
    for (int i = 0; i < deflated; ++i) coefficients(i, j) = -components(i, j);
    coefficients(deflated + j, j) = 1.0;
  }
  space_.update({v_, more_, x}, coefficients, {x});
}

template class Deflation<float>;
template class Deflation<double>;

}  // namespace block_eigs
