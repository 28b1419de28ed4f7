#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "solver/block_cg/bcgrq_curvature.hpp"
#include "solver/block_cg/bcgrq_steps.hpp"

namespace block_eigs::bcgrq {

namespace {

/// Part of a residual, or of its right-hand side, below which rounding errors in the direction may be all there
/// is. What is real about it is seen again when the rest of the residual has become smaller.
constexpr double noticeable = 1e-6;
/// Of |A| |x| / ||f||, in 1 / epsilon: rounding errors in A x may be as large as f then. Iterates of conjugate
/// gradients grow from step to step (Steihaug, SIAM J. Numer. Anal. 20, 1983), so that the solution is no smaller.
constexpr double largest_growth = 0.1;
/// Part of epsilon |A| |x| that rounding errors in A x hardly fall below: a tolerance that allows more may be met.
constexpr double least_rounding = 0.01;

std::string in_words(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

std::string iteration_at_work(const Budget& budget) { return "iteration " + std::to_string(budget.spent() + 1); }

template <class T>
void give_up(Column& column, Sides<T>& sides, const Budget& budget, const std::string& sign) {
  column.unsolvable = true;
  column.active = false;
  sides.findings.end = BlockCgEnd::singular_matrix;
  sides.findings.singular_matrix = true;
  sides.remark = "A is singular to working precision and a right-hand side is not in its range: " + sign +
                 ", seen in " + iteration_at_work(budget);
}

/// A right-hand side whose solution is too large for this precision, whether A is singular or not.
template <class T>
void give_up_large(Column& column, Sides<T>& sides, const Budget& budget, double growth) {
  column.unsolvable = true;
  column.active = false;
  if (sides.findings.singular_matrix) return;
  sides.findings.end = BlockCgEnd::too_large;
  sides.remark =
      "a solution is so large that rounding errors in A x are as large as its right-hand side: ||A|| ||x|| = " +
      in_words(growth) + " ||f|| in " + iteration_at_work(budget);
}

/// Right-hand sides with a part along directions that A maps to nothing have no solution. Whether there were any.
template <class T>
bool give_up_along(const Examined& found, const State<T>& state, Sides<T>& sides, const Budget& budget) {
  if (found.along.empty()) return false;
  bool any = false;
  for (std::size_t j = 0; j < sides.columns.size(); ++j) {
    Column& column = sides.columns[j];
    const double rounding = state.test.accuracy_limit(column.rhs_norm, column.product_scale);
    const double least = std::max(column.limit, rounding);
    const bool of_residual = found.along[j] > noticeable && found.along[j] * column.recursive_norm > least;
    const bool of_side = found.outside[j] > std::max(noticeable * column.rhs_norm, least);
    if (!column.active || (!of_residual && !of_side)) continue;
    give_up(column, sides, budget,
            "p'Ap = " + in_words(found.smallest) + " for a direction p of norm 1" +
                (state.preconditioner != nullptr ? " (in the norm of the preconditioner)" : "") +
                " to which its residual is not orthogonal");
    any = true;
  }
  return any;
}

template <class T>
void note_indefinite(Sides<T>& sides, const std::string& sign) {
  sides.findings.end = BlockCgEnd::indefinite_matrix;
  sides.findings.indefinite_matrix = true;
  sides.remark = "A is not positive definite: " + sign + " (conjugate gradients need a positive definite matrix)";
}

}  // namespace

template <class T>
void note_beyond_range(Sides<T>& sides) {
  sides.findings.end = BlockCgEnd::beyond_range;
  sides.remark = "the numbers grew beyond the range of the arithmetic";
}

template <class T>
void note_preconditioner_fault(State<T>& state, Sides<T>& sides, bool negative, double inner_square) {
  sides.findings.end = BlockCgEnd::indefinite_preconditioner;
  sides.findings.indefinite_preconditioner = true;
  sides.remark = negative ? "the preconditioner is not positive definite: r'M^-1 r = " + in_words(inner_square) +
                                " for a combination r of residuals"
                          : std::string("the preconditioner gives values that are not finite");
  SmallMatrix products;
  const ConstBlockView<T> q = state.q.view();
  state.as.set_columns(q.cols);
  state.a.apply(q, state.as.view());
  state.space.gram({q}, {state.as.view(), q}, products);
  if (!products.all_finite()) return;
  const Examined found = examine_by_norm(state, products);
  if (!found.indefinite) return;
  sides.findings.indefinite_matrix = true;
  sides.remark += "; nor is A: p'Ap = " + in_words(found.smallest) + " for a direction p of norm 1";
}

template <class T>
bool maps_to_nothing(State<T>& state, Sides<T>& sides) {
  if (state.preconditioner == nullptr || state.s.cols() > 0 || !sides.any_active()) return false;
  note_preconditioner_fault(state, sides, true, 0.0);
  return true;
}

template <class T>
std::optional<RoundEnd> examine(State<T>& state, Sides<T>& sides, const Budget& budget,
                                const SmallMatrix& products) {
  Examined found = examine_by_norm(state, products);
  if (std::isnan(state.a.norm_inf())) state.test.raise_norm(found.largest);
  std::string measured = " for a direction p of norm 1 met in ";
  if (!found.indefinite && found.flat) {
    found = examine_closely(state, sides, products);
    if (state.preconditioner != nullptr)
      measured = " for a direction p of norm 1 (in that of the preconditioner) met in ";
    if (found.isotropic) measured = ", though A p is not zero," + measured;
  }
  if (found.indefinite) {
    note_indefinite(sides, "p'Ap = " + in_words(found.smallest) + measured + iteration_at_work(budget));
    return RoundEnd::impossible;
  }
  if (give_up_along(found, state, sides, budget)) return RoundEnd::given_up;
  return std::nullopt;
}

template <class T>
void note_drift(Column& column, Sides<T>& sides, const Budget& budget) {
  give_up(column, sides, budget,
          "its iterates have grown to ||A|| ||x|| = " + in_words(column.product_scale / column.rhs_norm) +
              " ||f|| along a null vector");
}

template <class T>
bool give_up_growing(State<T>& state, Sides<T>& sides, const Budget& budget) {
  const auto grown = [&](const Column& column) {
    return column.active && state.test.beyond_reach(column.rhs_norm, column.product_scale);
  };
  if (std::none_of(sides.columns.begin(), sides.columns.end(), grown)) return false;
  const std::vector<bool> null = are_null_vectors(state, sides.x);
  const double epsilon = std::numeric_limits<T>::epsilon();
  bool any = false;
  for (std::size_t j = 0; j < null.size(); ++j) {
    Column& column = sides.columns[j];
    const double growth = column.product_scale / column.rhs_norm;
    if (!grown(column)) continue;
    if (null[j]) {
      note_drift(column, sides, budget);
    } else if (!(epsilon * growth <= largest_growth) &&
               !(least_rounding * epsilon * column.product_scale <= column.limit)) {
      give_up_large(column, sides, budget, growth);
    } else {
      continue;
    }
    any = true;
  }
  return any;
}

template void note_beyond_range(Sides<float>&);
template void note_preconditioner_fault(State<float>&, Sides<float>&, bool, double);
template bool maps_to_nothing(State<float>&, Sides<float>&);
template std::optional<RoundEnd> examine(State<float>&, Sides<float>&, const Budget&, const SmallMatrix&);
template void note_drift(Column&, Sides<float>&, const Budget&);
template bool give_up_growing(State<float>&, Sides<float>&, const Budget&);
template void note_beyond_range(Sides<double>&);
template void note_preconditioner_fault(State<double>&, Sides<double>&, bool, double);
template bool maps_to_nothing(State<double>&, Sides<double>&);
template std::optional<RoundEnd> examine(State<double>&, Sides<double>&, const Budget&, const SmallMatrix&);
template void note_drift(Column&, Sides<double>&, const Budget&);
template bool give_up_growing(State<double>&, Sides<double>&, const Budget&);

}  // namespace block_eigs::bcgrq
