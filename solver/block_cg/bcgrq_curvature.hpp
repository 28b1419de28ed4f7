#pragma once

#include <vector>

#include "solver/block_cg/bcgrq_state.hpp"
#include "spmm/small_matrix.hpp"

namespace block_eigs::bcgrq {

/// What p^T A p does for directions p = S v of length one.
struct Examined {
  bool indefinite = false;  ///< it is negative beyond rounding for some p
  bool flat = false;        ///< it vanishes for some p
  bool isotropic = false;   ///< it vanishes for some p that A does not map to nothing: A is indefinite
  double smallest = 0.0;
  double largest = 0.0;
  /// For each right-hand side the component of its residual along directions where p^T A p vanishes, relative to
  /// the residual: both as M measures. Empty where there are none.
  std::vector<double> along;
  /// For each right-hand side f the largest |p^T f| / ||p|| for these p, as far as iterations have left it in the
  /// residual: no x takes it away. The residual itself may have grown by much more. Empty where there are none.
  std::vector<double> outside;
};

/// From `products` = S^T [A S, S], or those of another block in its place, by ||A|| ||p||^2: what is found to be
/// indefinite is, what is flat may not be. Collective.
template <class T>
Examined examine_by_norm(State<T>& state, const SmallMatrix& products);

/// From the same by |p|^T |A| |p| and the length p^T M p, for matrices with rows of any size. What seems to be
/// indefinite or flat is looked at again: p is formed, and its p^T A p, so that rounding errors in S^T A S, which
/// the largest directions in S make, count no more. A S is as before. Collective; throws RunError on all ranks
/// (memory).
template <class T>
Examined examine_closely(State<T>& state, const Sides<T>& sides, const SmallMatrix& products);

/// For every x, whether x^T A x has vanished: whether x is a null vector of A in this arithmetic, or but for so
/// many times its rounding errors. Uses up state.as; x is as before afterwards. Collective; throws RunError on all
/// ranks (memory).
template <class T>
std::vector<bool> are_null_vectors(State<T>& state, BlockView<T> x, double roundings = 1.0);

}  // namespace block_eigs::bcgrq
