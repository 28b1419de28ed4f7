#pragma once

#include <cstddef>
#include <utility>

#include "spmm/types.hpp"

namespace block_eigs {

/// Whether two views have elements in common.
template <class T>
bool overlap(ConstBlockView<T> x, ConstBlockView<T> y) {
  if (x.rows == 0 || y.rows == 0 || x.cols == 0 || y.cols == 0) return false;
  if (x.data > y.data) std::swap(x, y);
  const std::ptrdiff_t distance = y.data - x.data;
  if (distance >= static_cast<std::ptrdiff_t>(x.rows - 1) * x.stride + x.cols) return false;
  if (x.stride != y.stride) return true;
  const std::ptrdiff_t shift = distance % x.stride;
  return shift < x.cols || shift + y.cols > x.stride;
}

}  // namespace block_eigs
