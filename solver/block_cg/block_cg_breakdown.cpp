#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "solver/block_cg/block_cg_run.hpp"
#include "solver/small/curvature.hpp"
#include "solver/small/lapack.hpp"

namespace block_eigs {

namespace {

/// Part of a residual below which rounding errors in the direction may be all there is. What is real about it is
/// seen again when the rest of the residual has become smaller.
constexpr double noticeable = 1e-6;

std::string in_words(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

}  // namespace

/// Looks for directions p in the span of S with p^T A p <= 0, from S^T [A S, S]. False where they end the round.
template <class T>
bool BlockCgRun<T>::examine(const SmallMatrix& products) {
  SmallMatrix found;
  SmallMatrix along;  // components of the residuals along the null directions
  space_.on_root(
      [&] {
        const Curvature curvature = examine_curvature(products, norm_a_, std::numeric_limits<T>::epsilon());
        along = lapack::product(curvature.null_directions, true, recurrence_.components(), false);
        found.resize(3, 1);
        found(0, 0) = curvature.smallest;
        found(1, 0) = curvature.largest;
        found(2, 0) = curvature.indefinite ? 1.0 : 0.0;
      },
      {&found, &along});
  if (!norm_known_) norm_a_ = std::max(norm_a_, found(1, 0));
  if (found(2, 0) != 0.0) {
    give_up_on_all("A is not positive definite: p'Ap = " + in_words(found(0, 0)) +
                   " for a direction p of norm 1 met in iteration " + std::to_string(iterations_ + 1) +
                   " (conjugate gradients need a positive definite matrix)");
  } else {
    give_up_along(along, found(0, 0));
  }
  return !broken_;
}

template <class T>
void BlockCgRun<T>::give_up_on_all(const std::string& trouble) {
  trouble_ = trouble;
  broken_ = true;
  hopeless_ = true;
}

/// Right-hand sides with a part along directions that A maps to nothing have no solution.
template <class T>
void BlockCgRun<T>::give_up_along(const SmallMatrix& components, double curvature) {
  for (int j = 0; j < components.cols(); ++j) {
    BlockCgColumn& column = columns()[static_cast<std::size_t>(j)];
    double largest = 0.0;
    for (int i = 0; i < components.rows(); ++i) largest = std::max(largest, std::abs(components(i, j)));
    if (!column.active || largest <= std::max(column.limit, accuracy_limit(column))) continue;
    if (largest <= noticeable * column.recursive_norm) continue;
    give_up(column, "p'Ap = " + in_words(curvature) +
                        " for a direction p of norm 1 to which its residual is not orthogonal");
  }
}

/// Nor have those whose iterates, as last measured, grow until rounding errors in A x are as large as f.
template <class T>
void BlockCgRun<T>::give_up_what_grows() {
  for (BlockCgColumn& column : columns()) {
    if (!column.active || !beyond_reach(column)) continue;
    give_up(column, "its iterates have grown to ||A|| ||x|| = " +
                        in_words(norm_a_ * column.solution_norm / column.rhs_norm) + " ||f||");
  }
}

template <class T>
void BlockCgRun<T>::give_up(BlockCgColumn& column, const std::string& sign) {
  column.unsolvable = true;
  column.active = false;
  shed_ = true;
  broken_ = true;
  trouble_ = "A is singular to working precision and a right-hand side is not in its range: " + sign +
             ", seen in iteration " + std::to_string(iterations_ + 1);
}

template class BlockCgRun<float>;
template class BlockCgRun<double>;

}  // namespace block_eigs
