#include "solver/preconditioner/chebyshev.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "solver/preconditioner/jacobi.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

template <class T>
Chebyshev<T>::Chebyshev(const Context<T>& context, LinearOperator<T>& a, std::span<const double> diagonal,
                        double upper_bound, const ChebyshevOptions& options)
    : context_(context), a_(a), inverse_(context.device, diagonal.size()), degree_(options.degree) {
  require(options.degree >= 1, "chebyshev.degree must be at least 1, not " + std::to_string(options.degree));
  require(options.ratio == 0.0 || options.ratio > 1.0,
          "chebyshev.ratio must be greater than 1 (or 0 to have it chosen)");
  // With the lower end near upper / degree^2 the polynomial still has its factor-of-a-few reduction on the whole
  // interval, and below it falls off smoothly.
  const double ratio = options.ratio > 0.0 ? options.ratio : std::max(4.0, 1.0 * degree_ * degree_);
  const double lower = upper_bound / ratio;
  center_ = 0.5 * (upper_bound + lower);
  half_width_ = 0.5 * (upper_bound - lower);
  const std::vector<double> inverse = inverse_diagonal(diagonal);
  const std::vector<T> rounded(inverse.begin(), inverse.end());
  inverse_.upload(rounded.data());
}

template <class T>
void Chebyshev<T>::apply(ConstBlockView<T> x, BlockView<T> y) {
  if (direction_.cols() < x.cols) {
    direction_ = DenseBlock<T>(context_.device, x.rows, x.cols);
    product_ = DenseBlock<T>(context_.device, x.rows, x.cols);
  }
  // Side by side whatever the width, so that narrow blocks do not stride over the room of wide ones.
  const LocalIndex stride = DenseBlock<T>::padded(x.cols);
  const BlockView<T> p{direction_.view().data, x.rows, x.cols, stride};
  const BlockView<T> az{product_.view().data, x.rows, x.cols, stride};
  Kernels<T>& kernels = *context_.kernels;
  kernels.chebyshev_step({0.0, 1.0 / center_}, inverse_.data(), x, az, p, y);
  const double sigma = center_ / half_width_;
  double rho = 1.0 / sigma;
  for (int k = 1; k < degree_; ++k) {
    a_.apply(y, az);
    const double next = 1.0 / (2.0 * sigma - rho);
    kernels.chebyshev_step({next * rho, 2.0 * next / half_width_}, inverse_.data(), x, az, p, y);
    rho = next;
  }
}

template class Chebyshev<float>;
template class Chebyshev<double>;

}  // namespace block_eigs
