#include "solver/lanczos/lanczos_recurrence.hpp"

#include <utility>

namespace block_eigs {

template <class T>
LanczosRecurrence<T>::LanczosRecurrence(BlockSpace<T>& space, LinearOperator<T>& a, const Buffer<T>* scale,
                                        std::uint64_t seed)
    : space_(space),
      a_(a),
      scale_(scale),
      v_(space.make_block(1)),
      before_(space.make_block(1)),
      image_(space.make_block(1)),
      scaled_(space.make_block(scale != nullptr ? 1 : 0)) {
  a.reserve(1);
  space.fill_random(v_.view(), seed);
  space.kernels().fill(before_.view(), 0.0);
  const double norm = space.column_norms(v_.view())[0];
  begun_ = norm > 0.0;
  if (begun_) space.kernels().axpby(0.0, v_.view(), 1.0 / norm, v_.view());
}

template <class T>
void LanczosRecurrence<T>::step() {
  Kernels<T>& kernels = space_.kernels();
  if (!beside_.empty()) {
    std::swap(before_, v_);
    std::swap(v_, image_);
    kernels.axpby(0.0, v_.view(), 1.0 / beside_.back(), v_.view());
  }
  if (scale_ != nullptr) {
    kernels.scale_rows(scale_->data(), v_.view(), scaled_.view());
    a_.apply(scaled_.view(), image_.view());
    kernels.scale_rows(scale_->data(), image_.view(), image_.view());
  } else {
    a_.apply(v_.view(), image_.view());
  }
  if (!beside_.empty()) kernels.axpby(-beside_.back(), before_.view(), 1.0, image_.view());
  const double alpha = space_.column_dots(v_.view(), image_.view())[0];
  kernels.axpby(-alpha, v_.view(), 1.0, image_.view());
  diagonal_.push_back(alpha);
  beside_.push_back(space_.column_norms(image_.view())[0]);
}

template class LanczosRecurrence<float>;
template class LanczosRecurrence<double>;

}  // namespace block_eigs
