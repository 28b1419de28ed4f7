#pragma once

#include <vector>

#include "spmm/small_matrix.hpp"

namespace block_eigs {

/// What p^T A p does on a small space of directions p = S v of length one.
struct Curvature {
  double smallest = 0.0;
  double largest = 0.0;
  bool indefinite = false;  ///< the smallest is negative beyond rounding
  /// Columns v, with S v of length one, along which it vanishes within rounding.
  SmallMatrix null_directions;
  /// These, and the ones along which it is negative.
  SmallMatrix suspects;
};

/// Another measure than ||A|| and p^T p, both of which say nothing where rows and columns of A are of very
/// different size.
struct CurvatureMeasure {
  SmallMatrix weights;         ///< S^T M S: lengths are those of p^T M p
  std::vector<double> scales;  ///< of the columns of S: estimates of |s|^T |A| |s|
  /// The largest p^T A p / p^T M p that is known, where M is that of a preconditioner, else 0. Where it is less by
  /// epsilon p^T A p has vanished, too: no iteration with this M gets over the condition number that this is proof
  /// of. |A| cannot tell this of rows without entries, which M knows.
  double inner = 0.0;
};

/// p^T A p of one p, as far as it can be told from rounding errors in A p.
enum class CurvatureSign { positive, vanishing, negative };

/// Of `value` = p^T A p, with `bound` = ||A|| p^T p, and `scale` an estimate of |p|^T |A| |p| that hardly falls
/// short. Vanishing and negative are said of values only that no positive definite matrix gives: with a diagonal
/// of ones it has a condition number near 1 / epsilon then. Vanishing also where it is no more than epsilon
/// `inner`, p^T A p for other p of the same p^T M p; 0 where that is not known.
CurvatureSign curvature_sign(double value, double bound, double scale, double epsilon, double inner = 0.0);

/// From `products` = S^T [A S, S], finite; lengths are those of p^T p, rounding errors those of sums in `epsilon`
/// with ||A|| = norm_a (or the largest quotient found, where that is larger). With a `measure` p^T A p has
/// vanished or is negative as soon as this says so. Nothing is found where numbers leave the range of double on
/// the way.
Curvature examine_curvature(const SmallMatrix& products, double norm_a, double epsilon,
                            const CurvatureMeasure* measure = nullptr);

}  // namespace block_eigs
