#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "solver/block_cg/bcgrq_steps.hpp"
#include "solver/small/curvature.hpp"
#include "solver/small/lapack.hpp"

namespace block_eigs::bcgrq {

namespace {

/// Part of a residual below which rounding errors in the direction may be all there is. What is real about it is
/// seen again when the rest of the residual has become smaller.
constexpr double noticeable = 1e-6;

std::string in_words(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

std::string iteration_at_work(const Budget& budget) { return "iteration " + std::to_string(budget.spent() + 1); }

void give_up(Column& column, std::string& remark, const Budget& budget, const std::string& sign) {
  column.unsolvable = true;
  column.active = false;
  remark = "A is singular to working precision and a right-hand side is not in its range: " + sign + ", seen in " +
           iteration_at_work(budget);
}

/// Right-hand sides with a part along directions that A maps to nothing have no solution. Whether there were any.
template <class T>
bool give_up_along(const SmallMatrix& components, double curvature, const State<T>& state, Sides<T>& sides,
                   const Budget& budget) {
  bool any = false;
  for (int j = 0; j < components.cols(); ++j) {
    Column& column = sides.columns[static_cast<std::size_t>(j)];
    double largest = 0.0;
    for (int i = 0; i < components.rows(); ++i) largest = std::max(largest, std::abs(components(i, j)));
    const double rounding = state.test.accuracy_limit(column.rhs_norm, column.solution_norm);
    if (!column.active || largest <= std::max(column.limit, rounding)) continue;
    if (largest <= noticeable * column.recursive_norm) continue;
    give_up(
        column, sides.remark, budget,
        "p'Ap = " + in_words(curvature) + " for a direction p of norm 1 to which its residual is not orthogonal");
    any = true;
  }
  return any;
}

}  // namespace

template <class T>
std::optional<RoundEnd> examine(State<T>& state, Sides<T>& sides, const Budget& budget,
                                const SmallMatrix& products) {
  SmallMatrix found;
  SmallMatrix along;  // components of the residuals along the null directions
  state.space.on_root(
      [&] {
        const Curvature curvature =
            examine_curvature(products, state.test.norm_a(), std::numeric_limits<T>::epsilon());
        along = lapack::product(curvature.null_directions, true, state.recurrence.components(), false);
        found.resize(3, 1);
        found(0, 0) = curvature.smallest;
        found(1, 0) = curvature.largest;
        found(2, 0) = curvature.indefinite ? 1.0 : 0.0;
      },
      {&found, &along});
  if (std::isnan(state.a.norm_inf())) state.test.raise_norm(found(1, 0));
  if (found(2, 0) != 0.0) {
    sides.remark = "A is not positive definite: p'Ap = " + in_words(found(0, 0)) +
                   " for a direction p of norm 1 met in " + iteration_at_work(budget) +
                   " (conjugate gradients need a positive definite matrix)";
    return RoundEnd::impossible;
  }
  if (give_up_along(along, found(0, 0), state, sides, budget)) return RoundEnd::given_up;
  return std::nullopt;
}

template <class T>
bool give_up_growing(const State<T>& state, Sides<T>& sides, const Budget& budget) {
  bool any = false;
  for (Column& column : sides.columns) {
    if (!column.active || !state.test.beyond_reach(column.rhs_norm, column.solution_norm)) continue;
    give_up(column, sides.remark, budget,
            "its iterates have grown to ||A|| ||x|| = " +
                in_words(state.test.norm_a() * column.solution_norm / column.rhs_norm) + " ||f||");
    any = true;
  }
  return any;
}

template std::optional<RoundEnd> examine(State<float>&, Sides<float>&, const Budget&, const SmallMatrix&);
template std::optional<RoundEnd> examine(State<double>&, Sides<double>&, const Budget&, const SmallMatrix&);
template bool give_up_growing(const State<float>&, Sides<float>&, const Budget&);
template bool give_up_growing(const State<double>&, Sides<double>&, const Budget&);

}  // namespace block_eigs::bcgrq
