#include "solver/preconditioner/cast_operator.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace block_eigs {

void CastOperator::reserve(LocalIndex columns) {
  const auto count = static_cast<std::size_t>(columns);
  if (count <= scales_.size()) return;
  inner_.reserve(columns);
  context_.comm.collectively([&] {
    const LocalIndex at_once = std::min(columns, most_columns_);
    if (at_once > x_.cols()) {
      x_ = DenseBlock<float>(context_.device, inner_.columns(), at_once);
      y_ = DenseBlock<float>(context_.device, inner_.rows(), at_once);
    }
    inverse_.reserve(count);
    scales_.reserve(count);
  });
  inverse_.resize(count);
  scales_.resize(count);
}

void CastOperator::apply(ConstBlockView<double> x, BlockView<double> y) {
  reserve(x.cols);
  const std::span<double> scales = std::span(scales_).first(static_cast<std::size_t>(x.cols));
  context_.kernels->column_dots(x, x, scales);
  context_.comm.sum(scales);
  for (double& scale : scales) scale = scale > 0.0 ? std::sqrt(scale) : 1.0;
  apply_scaled(x, y);
}

void CastOperator::apply_sized(ConstBlockView<double> x, std::span<const double> norms, BlockView<double> y) {
  reserve(x.cols);
  for (std::size_t j = 0; j < norms.size(); ++j)
    scales_[j] = norms[j] > 0.0 && std::isfinite(1.0 / norms[j]) && std::isfinite(norms[j]) ? norms[j] : 1.0;
  apply_scaled(x, y);
}

void CastOperator::apply_scaled(ConstBlockView<double> x, BlockView<double> y) {
  for (LocalIndex first = 0; first < x.cols; first += x_.cols()) {
    const LocalIndex count = std::min(x_.cols(), x.cols - first);
    apply_some(x.columns(first, count), y.columns(first, count), first);
  }
}

void CastOperator::apply_some(ConstBlockView<double> x, BlockView<double> y, LocalIndex first) {
  const LocalIndex stride = DenseBlock<float>::padded(x.cols);
  const BlockView<float> x_float{x_.view().data, x.rows, x.cols, stride};
  const BlockView<float> y_float{y_.view().data, y.rows, x.cols, stride};
  const auto begin = static_cast<std::size_t>(first);
  const std::span<double> scales = std::span(scales_).subspan(begin, static_cast<std::size_t>(x.cols));
  const std::span<double> inverse = std::span(inverse_).subspan(begin, scales.size());
  for (std::size_t j = 0; j < scales.size(); ++j) inverse[j] = 1.0 / scales[j];
  context_.kernels->convert(x, inverse, x_float);
  inner_.apply(x_float, y_float);
  float_context_.kernels->convert(y_float, scales, y);
}

}  // namespace block_eigs
