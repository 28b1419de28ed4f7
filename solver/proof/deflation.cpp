#include "solver/proof/deflation.hpp"

#include "solver/space/orthonormalize.hpp"

namespace block_eigs {

template <class T>
Deflation<T>::Deflation(BlockSpace<T>& space, LinearOperator<T>* b, ConstBlockView<T> v, ConstBlockView<T> more)
    : space_(space), v_(v), bv_(v) {
  if (b != nullptr) {
    images_ = space.make_block(v.cols);
    b->apply(v, images_.view());
    bv_ = images_.view();
  }
  if (more.cols == 0) return;
  basis_ = space.make_block(more.cols);
  space.copy(more, basis_.view());
  BlockView<T> image = basis_.view();
  if (b != nullptr) {
    basis_images_ = space.make_block(more.cols);
    b->apply(more, basis_images_.view());
    image = basis_images_.view();
  }
  const LocalIndex count =
      orthonormalize<T>(space, {v_}, basis_.view(), image, {bv_}, Orthonormality::to_rounding);
  more_ = basis_.columns(0, count);
  bmore_ = image.columns(0, count);
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
