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

bool all_finite(const SmallMatrix& matrix) {
  return std::all_of(matrix.values().begin(), matrix.values().end(), [](double v) { return std::isfinite(v); });
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

/// What examine_curvature has found, and what follows for the residuals.
struct Examined {
  bool indefinite = false;
  bool flat = false;  ///< p^T A p vanishes for some p
  double smallest = 0.0;
  double largest = 0.0;
  double least_relative = 0.0;
  /// For each right-hand side the component of its residual along directions where p^T A p vanishes, relative to
  /// the residual: both as M measures.
  std::vector<double> along;
};

std::vector<double> largest_components(const SmallMatrix& directions, const SmallMatrix& components) {
  const SmallMatrix along = lapack::product(directions, true, components, false);
  std::vector<double> result;
  for (int j = 0; j < components.cols(); ++j) {
    double squared = 0.0;
    for (int i = 0; i < components.rows(); ++i) squared += components(i, j) * components(i, j);
    double largest = 0.0;
    for (int i = 0; i < along.rows(); ++i) largest = std::max(largest, std::abs(along(i, j)));
    result.push_back(squared > 0.0 ? largest / std::sqrt(squared) : 0.0);
  }
  return result;
}

/// The curvature from S^T [A S, S] by the `measure`, null where that is ||A||. Collective.
template <class T>
Examined examine_on_root(State<T>& state, const SmallMatrix& products, CurvatureMeasure* measure) {
  SmallMatrix found;
  state.space.on_root(
      [&] {
        if (measure != nullptr) measure->weights = state.recurrence.weights();
        const Curvature curvature =
            examine_curvature(products, state.test.norm_a(), std::numeric_limits<T>::epsilon(), measure);
        const SmallMatrix& components = state.recurrence.components();
        const SmallMatrix& null = curvature.null_directions;
        const bool flat = null.cols() > 0;
        found.resize(5 + components.cols(), 1);
        found(0, 0) = curvature.indefinite ? 1.0 : 0.0;
        found(1, 0) = flat ? 1.0 : 0.0;
        found(2, 0) = curvature.smallest;
        found(3, 0) = curvature.largest;
        found(4, 0) = curvature.least_relative;
        if (!flat || null.rows() != components.rows()) return;
        const std::vector<double> along = largest_components(null, components);
        std::copy(along.begin(), along.end(), found.data() + 5);
      },
      {&found});
  Examined result{found(0, 0) != 0.0, found(1, 0) != 0.0, found(2, 0), found(3, 0), found(4, 0), {}};
  result.along.assign(found.data() + 5, found.data() + found.rows());
  return result;
}

/// Right-hand sides with a part along directions that A maps to nothing have no solution. Whether there were any.
template <class T>
bool give_up_along(const Examined& found, const State<T>& state, Sides<T>& sides, const Budget& budget) {
  bool any = false;
  for (std::size_t j = 0; j < sides.columns.size(); ++j) {
    Column& column = sides.columns[j];
    const double rounding = state.test.accuracy_limit(column.rhs_norm, column.product_scale);
    if (!column.active || found.along[j] <= noticeable) continue;
    if (found.along[j] * column.recursive_norm <= std::max(column.limit, rounding)) continue;
    give_up(column, sides, budget,
            "p'Ap = " + in_words(found.smallest) + " for a direction p of norm 1" +
                (state.preconditioner != nullptr ? " (in the norm of the preconditioner)" : "") +
                " to which its residual is not orthogonal");
    any = true;
  }
  return any;
}

/// The curvature from S^T [A S, S] by |p|^T |A| |p| and p^T M p. A S is as before. Collective.
template <class T>
Examined examine_closely(State<T>& state, const SmallMatrix& products) {
  CurvatureMeasure measure{{}, state.probe.quadratic_scales(state.s.view(), state.as.view())};
  multiply(state);
  return examine_on_root(state, products, &measure);
}

/// Whether no direction comes near the null space of A, as far as its rows and columns have any size in common:
/// then x is large because they have not. Uses up state.as for A S.
template <class T>
bool is_badly_scaled(State<T>& state) {
  if (state.s.cols() == 0) return false;
  multiply(state);
  SmallMatrix products;
  state.space.gram({state.s.view()}, {state.as.view(), state.s.view()}, products);
  if (!all_finite(products)) return false;
  const Examined found = examine_closely(state, products);
  return std::isfinite(found.least_relative) &&
         found.least_relative > std::pow(std::numeric_limits<T>::epsilon(), 0.25);
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
  if (!all_finite(products)) return;
  const Examined found = examine_on_root<T>(state, products, nullptr);
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
  Examined found = examine_on_root<T>(state, products, nullptr);
  if (std::isnan(state.a.norm_inf())) state.test.raise_norm(found.largest);
  std::string measured = " for a direction p of norm 1 met in ";
  if (!found.indefinite && found.flat) {
    found = examine_closely(state, products);
    if (state.preconditioner != nullptr)
      measured = " for a direction p of norm 1 (in that of the preconditioner) met in ";
  }
  if (found.indefinite) {
    note_indefinite(sides, "p'Ap = " + in_words(found.smallest) + measured + iteration_at_work(budget));
    return RoundEnd::impossible;
  }
  if (give_up_along(found, state, sides, budget)) return RoundEnd::given_up;
  return std::nullopt;
}

template <class T>
bool give_up_growing(State<T>& state, Sides<T>& sides, const Budget& budget) {
  std::vector<Column*> grown;
  for (Column& column : sides.columns) {
    if (column.active && state.test.beyond_reach(column.rhs_norm, column.product_scale)) grown.push_back(&column);
  }
  if (grown.empty()) return false;
  const auto uneven = [](const Column* column) { return column->product_scale < 0.05 * column->product_bound; };
  const bool badly_scaled = std::any_of(grown.begin(), grown.end(), uneven) && is_badly_scaled(state);
  for (Column* column : grown) {
    const std::string growth = "||A|| ||x|| = " + in_words(column->product_scale / column->rhs_norm) + " ||f||";
    give_up(*column, sides, budget, "its iterates have grown to " + growth);
    if (!badly_scaled) continue;
    sides.remark =
        "rows and columns of A are of too different size for this precision: rounding errors in A x are as "
        "large as a right-hand side, " +
        growth;
    sides.findings.end = BlockCgEnd::at_rounding;
  }
  if (badly_scaled) sides.findings.singular_matrix = false;
  return true;
}

template void note_beyond_range(Sides<float>&);
template void note_preconditioner_fault(State<float>&, Sides<float>&, bool, double);
template bool maps_to_nothing(State<float>&, Sides<float>&);
template std::optional<RoundEnd> examine(State<float>&, Sides<float>&, const Budget&, const SmallMatrix&);
template bool give_up_growing(State<float>&, Sides<float>&, const Budget&);
template void note_beyond_range(Sides<double>&);
template void note_preconditioner_fault(State<double>&, Sides<double>&, bool, double);
template bool maps_to_nothing(State<double>&, Sides<double>&);
template std::optional<RoundEnd> examine(State<double>&, Sides<double>&, const Budget&, const SmallMatrix&);
template bool give_up_growing(State<double>&, Sides<double>&, const Budget&);

}  // namespace block_eigs::bcgrq
