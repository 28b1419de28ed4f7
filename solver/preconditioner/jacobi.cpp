#include "solver/preconditioner/jacobi.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace block_eigs {

std::vector<double> inverse_diagonal(std::span<const double> diagonal) {
  std::vector<double> inverse(diagonal.size());
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    inverse[i] = diagonal[i] != 0.0 ? 1.0 / std::abs(diagonal[i]) : 1.0;
  }
  return inverse;
}

bool is_constant(const Communicator& comm, std::span<const double> diagonal) {
  double least = std::numeric_limits<double>::infinity();
  double largest = -least;
  for (const double d : diagonal) {
    least = std::min(least, d);
    largest = std::max(largest, d);
  }
  largest = comm.max(largest);
  return -comm.max(-least) == largest && largest != 0.0;
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
