#pragma once

#include <algorithm>
#include <cmath>

#include "spmm/small_matrix.hpp"

namespace block_eigs {

/// The leading block of a symmetric matrix from the columns of `products` that begin at `first_column`, in which
/// rounding errors differ above and below the diagonal.
inline void fill_leading(SmallMatrix& matrix, const SmallMatrix& products, int first_column) {
  for (int j = 0; j < products.rows(); ++j) {
    for (int i = 0; i < products.rows(); ++i)
      matrix(i, j) = 0.5 * (products(i, first_column + j) + products(j, first_column + i));
  }
}

/// Of the largest element.
inline double deviation_from_identity(const SmallMatrix& gram) {
  double most = 0.0;
  for (int j = 0; j < gram.cols(); ++j) {
    for (int i = 0; i < gram.rows(); ++i) most = std::max(most, std::abs(gram(i, j) - (i == j ? 1.0 : 0.0)));
  }
  return most;
}

}  // namespace block_eigs
