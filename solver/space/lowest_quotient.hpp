#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "solver/space/block_space.hpp"

namespace block_eigs {

/// How low the eigenvalues may be that orthonormal `v`, which an operator leaves nearly invariant, stands for: the
/// least Rayleigh quotient less what is left beside it; infinite without columns. `apply(x, y)` makes y the image
/// of x, and is given as many columns at a time as `x` and `y` have, which are work space. Collective.
template <class T, class Apply>
double lowest_quotient(BlockSpace<T>& space, ConstBlockView<T> v, BlockView<T> x, BlockView<T> y,
                       const Apply& apply) {
  double lowest = std::numeric_limits<double>::infinity();
  for (LocalIndex first = 0; first < v.cols; first += x.cols) {
    const LocalIndex count = std::min<LocalIndex>(x.cols, v.cols - first);
    space.copy(v.columns(first, count), x.columns(0, count));
    apply(x.columns(0, count), y.columns(0, count));
    const std::vector<double> quotients = space.column_dots(x.columns(0, count), y.columns(0, count));
    const std::vector<double> lengths = space.column_norms(y.columns(0, count));
    for (std::size_t j = 0; j < quotients.size(); ++j) {
      const double beside = std::max(lengths[j] * lengths[j] - quotients[j] * quotients[j], 0.0);
      lowest = std::min(lowest, quotients[j] - std::sqrt(beside));
    }
  }
  return lowest;
}

}  // namespace block_eigs
