#include "solver/davidson/residual_filter.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "solver/space/column_runs.hpp"

namespace block_eigs {

ResidualFilter::ResidualFilter(const BlockSpace<double>& space, LinearOperator<float>& a, LocalIndex columns)
    : space_(in_float(space)),
      a_(a),
      takes_steps_(std::isfinite(a.blocks_beside(columns))),
      r_(space_, columns),
      now_(space_, columns),
      before_(space_, columns),
      image_(space_, takes_steps_ ? 0 : columns) {
  a.reserve(columns);
}

void ResidualFilter::take_residuals(BlockSpace<double>& space, const FilteredPairs& pairs) {
  const std::span<const LocalIndex> columns = pairs.columns;
  r_.set_columns(static_cast<LocalIndex>(columns.size()));
  for_each_run(columns, [&](LocalIndex first, LocalIndex at, LocalIndex count) {
    std::vector<double> scales;
    for (const double norm : pairs.norms.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)))
      scales.push_back(norm > 0.0 ? 1.0 / norm : 0.0);
    space.kernels().convert(pairs.residuals.columns(first, count), scales, r_.view().columns(at, count));
  });
}

void ResidualFilter::apply(BlockSpace<double>& space, const FilteredPairs& pairs, const FilterInterval& interval,
                           double sign, int degree, int period,
                           const std::function<void(BlockView<double>)>& clean, BlockView<double> w) {
  take_residuals(space, pairs);
  for (Panel<float>* panel : {&now_, &before_}) panel->set_columns(r_.cols());
  if (!takes_steps_) image_.set_columns(r_.cols());
  const auto cleaned = [&](BlockView<float> block) {
    space_.kernels().convert(block, {}, w);
    clean(w);
    space.kernels().convert(w, {}, block);
  };
  const double center = 0.5 * (interval.upper + interval.lower);
  const double half_width = 0.5 * (interval.upper - interval.lower);
  const double sigma = (center - interval.anchor) / half_width;
  const double first = pairs.values[static_cast<std::size_t>(pairs.columns.front())];
  // d_1 = p_1(S_j) x - p_1(first) x = -(S - theta_j) x / (center - anchor), S_j = S - (theta_j - first)
  space_.kernels().axpby(-sign / (center - interval.anchor), r_.view(), 0.0, now_.view());
  double p_before = 1.0;
  double p = (center - first) / (center - interval.anchor);
  double rho = 1.0 / sigma;
  std::vector<double> factors(pairs.columns.size());
  ProductStep<float> step;
  step.r = r_.view();
  step.betas = factors;
  for (int k = 1; k < degree; ++k) {
    // d_{k+1} = 2 rho' [(center - S_j) d_k - p_k(first) (S - theta_j) x] / half_width - rho rho' d_{k-1}
    const double next = 1.0 / (2.0 * sigma - rho);
    const double scale = 2.0 * next / half_width;
    for (std::size_t j = 0; j < factors.size(); ++j) {
      const double value = pairs.values[static_cast<std::size_t>(pairs.columns[j])];
      factors[j] = scale * (center + value - first);
    }
    step.alpha = -sign * scale;
    step.right_hand_side = -sign * scale * p;
    step.gamma = k > 1 ? -next * rho : 0.0;
    space_.apply_step(a_, now_.view(), step, image_.view(), before_.view());
    std::swap(now_, before_);
    p_before = std::exchange(p, scale * (center - first) * p - next * rho * p_before);
    rho = next;
    if ((k + 1) % period == 0 && k + 1 < degree) cleaned(now_.view()), cleaned(before_.view());
  }
  space_.kernels().convert(now_.view(), {}, w);
}

}  // namespace block_eigs
