#include "solver/preconditioner/cast_operator.hpp"

#include <cmath>
#include <span>
#include <vector>

namespace block_eigs {

void CastOperator::apply(ConstBlockView<double> x, BlockView<double> y) {
  if (x_.cols() < x.cols) {
    x_ = DenseBlock<float>(context_.device, x.rows, x.cols);
    y_ = DenseBlock<float>(context_.device, y.rows, x.cols);
  }
  const LocalIndex stride = DenseBlock<float>::padded(x.cols);
  const BlockView<float> x_float{x_.view().data, x.rows, x.cols, stride};
  const BlockView<float> y_float{y_.view().data, y.rows, x.cols, stride};
  std::vector<double> scales(static_cast<std::size_t>(x.cols));
  context_.kernels->column_dots(x, x, scales);
  context_.comm.sum(std::span(scales));
  std::vector<double> inverse(scales.size());
  for (std::size_t j = 0; j < scales.size(); ++j) {
    scales[j] = scales[j] > 0.0 ? std::sqrt(scales[j]) : 1.0;
    inverse[j] = 1.0 / scales[j];
  }
  context_.kernels->convert(x, inverse, x_float);
  inner_.apply(x_float, y_float);
  float_context_.kernels->convert(y_float, scales, y);
}

}  // namespace block_eigs
