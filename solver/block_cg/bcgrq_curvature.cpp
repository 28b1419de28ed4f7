#include "solver/block_cg/bcgrq_curvature.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solver/block_cg/bcgrq_steps.hpp"
#include "solver/small/curvature.hpp"
#include "solver/small/lapack.hpp"

namespace block_eigs::bcgrq {

namespace {

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

/// The largest p^T A p / p^T M p of the columns of S, from `products` = S^T [A S, S].
double largest_quotient(const SmallMatrix& products, const SmallMatrix& weights) {
  double largest = 0.0;
  for (int j = 0; j < weights.cols(); ++j) largest = std::max(largest, products(j, j) / weights(j, j));
  return largest;
}

/// examine_curvature where the recurrence is known; `suspects` then are its own. Collective.
template <class T>
Examined examine_for_all(State<T>& state, const SmallMatrix& products, CurvatureMeasure* measure,
                         SmallMatrix& suspects) {
  SmallMatrix found;
  state.space.solve_small(
      [&] {
        if (measure != nullptr) measure->weights = state.recurrence.weights();
        Curvature curvature =
            examine_curvature(products, state.test.norm_a(), std::numeric_limits<T>::epsilon(), measure);
        found.resize(5, 1);
        found(0, 0) = curvature.indefinite ? 1.0 : 0.0;
        found(1, 0) = curvature.null_directions.cols() > 0 ? 1.0 : 0.0;
        found(2, 0) = curvature.smallest;
        found(3, 0) = curvature.largest;
        found(4, 0) = largest_quotient(products, state.recurrence.weights());
        suspects = std::move(curvature.suspects);
      },
      {&found, &suspects});
  state.largest_inner = std::max(state.largest_inner, found(4, 0));
  return {found(0, 0) != 0.0, found(1, 0) != 0.0, false, found(2, 0), found(3, 0), {}, {}};
}

/// Of every column p of a block, from A p.
struct Forms {
  std::vector<double> values;  ///< p^T A p
  std::vector<double> norms;   ///< ||p||
  /// Whether p^T A p has vanished and A p has not: by Cauchy and Schwarz ||A p||^2 is no more than ||A|| p^T A p
  /// where A is semidefinite.
  std::vector<bool> isotropic;
  std::vector<CurvatureSign> signs;
};

/// `inner` as in curvature_sign; `roundings` times what vanishes vanishes, too. Uses up `ap`. Collective.
template <class T>
Forms forms_of(State<T>& state, BlockView<T> p, BlockView<T> ap, double inner = 0.0, double roundings = 1.0) {
  constexpr double margin = 16.0;
  constexpr double epsilon = std::numeric_limits<T>::epsilon();
  state.a.apply(p, ap);
  Forms forms;
  forms.values = state.space.column_dots(p, ap);
  forms.norms = state.space.column_norms(p);
  const std::vector<double> images = state.space.column_norms(ap);
  const std::vector<double>& norms = forms.norms;
  const std::vector<double> scales = state.probe.quadratic_scales(p, ap);
  for (std::size_t j = 0; j < norms.size(); ++j) {
    const double bound = state.test.norm_a() * norms[j] * norms[j];
    const bool known = std::isfinite(forms.values[j]) && std::isfinite(bound) && std::isfinite(scales[j]);
    const auto sign_of = [&](double value) { return curvature_sign(value, bound, scales[j], epsilon, inner); };
    CurvatureSign sign = known ? sign_of(forms.values[j]) : CurvatureSign::positive;
    if (known && sign == CurvatureSign::positive) sign = sign_of(forms.values[j] / roundings);
    forms.signs.push_back(sign);
    const double of_semidefinite = state.a.norm_inf() * (std::abs(forms.values[j]) + epsilon * scales[j]);
    forms.isotropic.push_back(forms.signs.back() == CurvatureSign::vanishing &&
                              images[j] * images[j] > margin * of_semidefinite);
  }
  return forms;
}

/// Examined::outside of the columns of p, `null` telling which of them are, from p^T F and p^T R.
std::vector<double> outside_of(const Forms& forms, const SmallMatrix& along_f, const SmallMatrix& along_r) {
  constexpr double left = 0.1;
  std::vector<double> result(static_cast<std::size_t>(along_f.cols()), 0.0);
  for (int j = 0; j < along_f.cols(); ++j) {
    for (int i = 0; i < along_f.rows(); ++i) {
      const auto p = static_cast<std::size_t>(i);
      if (forms.signs[p] != CurvatureSign::vanishing || !(forms.norms[p] > 0.0)) continue;
      if (!(std::abs(along_f(i, j) - along_r(i, j)) <= left * std::abs(along_f(i, j)))) continue;
      double& largest = result[static_cast<std::size_t>(j)];
      largest = std::max(largest, std::abs(along_f(i, j)) / forms.norms[p]);
    }
  }
  return result;
}

/// What is true of the directions S `suspects` with p^T M p = 1, which are formed; `inner` as in curvature_sign.
/// Collective.
template <class T>
Examined examine_one_by_one(State<T>& state, const Sides<T>& sides, const SmallMatrix& suspects, double inner) {
  const LocalIndex count = suspects.cols();
  DenseBlock<T> p = state.space.make_block(count);
  state.space.update({state.s.view()}, suspects, {p.view()});
  state.as.set_columns(count);
  const Forms forms = forms_of(state, p.view(), state.as.view(), inner);
  multiply(state);
  SmallMatrix along_f;
  state.space.gram({p.view()}, {sides.f}, along_f);
  Examined result;
  std::vector<double> null;
  for (int j = 0; j < suspects.cols(); ++j) {
    const double value = forms.values[static_cast<std::size_t>(j)];
    const CurvatureSign sign = forms.signs[static_cast<std::size_t>(j)];
    if (sign == CurvatureSign::positive) continue;
    const bool first = !result.indefinite && !result.flat;
    result.smallest = first ? value : std::min(result.smallest, value);
    result.isotropic |= forms.isotropic[static_cast<std::size_t>(j)];
    result.indefinite |= sign == CurvatureSign::negative || forms.isotropic[static_cast<std::size_t>(j)];
    result.flat |= sign == CurvatureSign::vanishing;
    if (sign == CurvatureSign::vanishing)
      null.insert(null.end(), suspects.column(j), suspects.column(j) + suspects.rows());
  }
  if (null.empty()) return result;
  SmallMatrix directions(suspects.rows(), static_cast<int>(null.size()) / suspects.rows());
  std::copy(null.begin(), null.end(), directions.data());
  SmallMatrix along, along_r;
  state.space.solve_small(
      [&] {
        along_r = lapack::product(suspects, true, state.recurrence.components(), false);
        const std::vector<double> found = largest_components(directions, state.recurrence.components());
        along.resize(static_cast<int>(found.size()), 1);
        std::copy(found.begin(), found.end(), along.data());
      },
      {&along, &along_r});
  result.along.assign(along.data(), along.data() + along.rows());
  result.outside = outside_of(forms, along_f, along_r);
  return result;
}

}  // namespace

template <class T>
Examined examine_by_norm(State<T>& state, const SmallMatrix& products) {
  SmallMatrix suspects;
  return examine_for_all<T>(state, products, nullptr, suspects);
}

template <class T>
Examined examine_closely(State<T>& state, const Sides<T>& sides, const SmallMatrix& products) {
  const double inner = state.preconditioner != nullptr ? state.largest_inner : 0.0;
  CurvatureMeasure measure{{}, state.probe.quadratic_scales(state.s.view(), state.as.view()), inner};
  multiply(state);
  SmallMatrix suspects;
  const Examined found = examine_for_all(state, products, &measure, suspects);
  return suspects.cols() > 0 ? examine_one_by_one(state, sides, suspects, inner) : found;
}

template <class T>
std::vector<bool> are_null_vectors(State<T>& state, BlockView<T> x, double roundings) {
  state.as.set_columns(x.cols);
  const Forms forms = forms_of(state, x, state.as.view(), 0.0, roundings);
  std::vector<bool> result;
  for (std::size_t j = 0; j < forms.signs.size(); ++j)
    result.push_back(forms.signs[j] == CurvatureSign::vanishing && !forms.isotropic[j]);
  return result;
}

template Examined examine_by_norm(State<float>&, const SmallMatrix&);
template Examined examine_closely(State<float>&, const Sides<float>&, const SmallMatrix&);
template std::vector<bool> are_null_vectors(State<float>&, BlockView<float>, double);
template Examined examine_by_norm(State<double>&, const SmallMatrix&);
template Examined examine_closely(State<double>&, const Sides<double>&, const SmallMatrix&);
template std::vector<bool> are_null_vectors(State<double>&, BlockView<double>, double);

}  // namespace block_eigs::bcgrq
