#pragma once

#include <vector>

#include "spmm/small_matrix.hpp"

namespace block_eigs {

/// What p^T A p / p^T p does on a small space of directions p = S v.
struct Curvature {
  double smallest = 0.0;
  double largest = 0.0;
  bool indefinite = false;  ///< the smallest is negative beyond rounding
  /// Columns v, with ||S v|| = 1, along which it vanishes within rounding.
  SmallMatrix null_directions;
};

/// From `products` = S^T [A S, S]; rounding errors are those of sums in `epsilon` with ||A|| = norm_a (or the
/// largest quotient found, where that is larger).
Curvature examine_curvature(const SmallMatrix& products, double norm_a, double epsilon);

}  // namespace block_eigs
