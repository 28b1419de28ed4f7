#include "solver/preconditioner/jacobi.hpp"

#include <cmath>

namespace block_eigs {

std::vector<double> inverse_diagonal(std::span<const double> diagonal) {
  std::vector<double> inverse;
  inverse.reserve(diagonal.size());
  for (const double d : diagonal) inverse.push_back(d != 0.0 ? 1.0 / std::abs(d) : 1.0);
  return inverse;
}

template <class T>
Jacobi<T>::Jacobi(const Context<T>& context, std::span<const double> diagonal)
    : context_(context), inverse_(context.device, diagonal.size()) {
  const std::vector<double> inverse = inverse_diagonal(diagonal);
  const std::vector<T> rounded(inverse.begin(), inverse.end());
  inverse_.upload(rounded.data());
}

template <class T>
void Jacobi<T>::apply(ConstBlockView<T> x, BlockView<T> y) {
  context_.kernels->scale_rows(inverse_.data(), x, y);
}

template class Jacobi<float>;
template class Jacobi<double>;

}  // namespace block_eigs
