#include "solver/block_cg/bcgrq_drift.hpp"

#include <algorithm>
#include <limits>

#include "solver/block_cg/bcgrq_best.hpp"
#include "solver/block_cg/bcgrq_curvature.hpp"
#include "solver/block_cg/bcgrq_steps.hpp"

namespace block_eigs::bcgrq {

namespace {

/// Residuals of conjugate gradients rise and fall; by so much hardly ever.
constexpr double risen = 10.0;
/// What the true residual has risen to at the least, when a null vector has made it: it follows the other one only
/// where rounding errors are as large.
constexpr double left_behind = 2.0;
/// Of the limit: a residual that was never below may be outside the range of A by much, which is another matter.
constexpr double near = 100.0;
/// Times the rounding errors in x^T A x of an x that is a null vector and what solves its side, grown with it.
constexpr double roundings = 16.0;
/// A new round from the best iterate is worth it when it comes to so much of its residual.
constexpr double gain = 0.5;
/// The recurrence ends a little above the least norm, which it need not meet in the same bits again.
constexpr double above = 1.01;

bool may_have_drifted(const Column& column) {
  return column.outcome != Outcome::converged && column.true_norm > left_behind * column.dip;
}

}  // namespace

void note_dip(Column& column) {
  const bool first = column.dip == std::numeric_limits<double>::infinity();
  const bool rises = column.recursive_norm > risen * column.least_norm;
  if (first && rises && column.least_norm <= near * column.limit) column.dip = column.least_norm;
  column.least_norm = std::min(column.least_norm, column.recursive_norm);
}

template <class T>
bool go_back_before_drift(State<T>& state, Sides<T>& sides, const Budget& budget, bool may_go_on) {
  std::vector<Column>& columns = sides.columns;
  bool back = false;
  // Rounding errors in float take more for a null vector than is one; what is done about them is for double.
  if (sides.in_float) return false;
  if (sides.best.known && std::any_of(columns.begin(), columns.end(), may_have_drifted)) {
    const std::vector<bool> null = are_null_vectors(state, sides.x, roundings);
    for (std::size_t j = 0; j < columns.size(); ++j) {
      Column& column = columns[j];
      if (!null[j] || !may_have_drifted(column)) continue;
      column.outcome = Outcome::not_converged;
      const bool gains = column.dip < gain * column.best_norm && column.best_norm < column.left_norm;
      column.active = may_go_on && !budget.exhausted() && gains;
      column.unsolvable = !column.active;
      if (column.unsolvable) note_drift(column, sides, budget);
      if (!column.active) continue;
      back = true;
      column.aim = above * column.dip;
      column.left_norm = column.best_norm;
      // The best iterate takes the place of x also where its residual is larger still: it has not drifted.
      column.true_norm = std::numeric_limits<double>::infinity();
    }
  }
  if (back && restore_best(state.space, sides)) measure_residuals(state, sides);
  return back;
}

template bool go_back_before_drift(State<float>&, Sides<float>&, const Budget&, bool);
template bool go_back_before_drift(State<double>&, Sides<double>&, const Budget&, bool);

}  // namespace block_eigs::bcgrq
