#include "solver/preconditioner/cast_operator.hpp"

#include <cmath>
#include <span>

namespace block_eigs {

void CastOperator::reserve(LocalIndex columns) {
  const auto count = static_cast<std::size_t>(columns);
  if (count <= scales_.size()) return;
  inner_.reserve(columns);
  context_.comm.collectively([&] {
    x_ = DenseBlock<float>(context_.device, inner_.columns(), columns);
    y_ = DenseBlock<float>(context_.device, inner_.rows(), columns);
    inverse_.reserve(count);
    scales_.reserve(count);
  });
  inverse_.resize(count);
  scales_.resize(count);
}

void CastOperator::apply(ConstBlockView<double> x, BlockView<double> y) {
  reserve(x.cols);
  const LocalIndex stride = DenseBlock<float>::padded(x.cols);
  const BlockView<float> x_float{x_.view().data, x.rows, x.cols, stride};
  const BlockView<float> y_float{y_.view().data, y.rows, x.cols, stride};
  const std::span<double> scales = std::span(scales_).first(static_cast<std::size_t>(x.cols));
  const std::span<double> inverse = std::span(inverse_).first(scales.size());
  context_.kernels->column_dots(x, x, scales);
  context_.comm.sum(scales);
  for (std::size_t j = 0; j < scales.size(); ++j) {
    scales[j] = scales[j] > 0.0 ? std::sqrt(scales[j]) : 1.0;
    inverse[j] = 1.0 / scales[j];
  }
  context_.kernels->convert(x, inverse, x_float);
  inner_.apply(x_float, y_float);
  float_context_.kernels->convert(y_float, scales, y);
}

}  // namespace block_eigs
