#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "solver/lobpcg/cut_cluster.hpp"
#include "solver/lobpcg/lobpcg_steps.hpp"
#include "solver/small/gram_matrix.hpp"
#include "spmm/error.hpp"

// What follows from a Rayleigh-Ritz step.
namespace block_eigs {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// The largest of value(0), ..., value(count - 1), 0 of none: infinity where one is not a number.
template <class Value>
double worst_of(int count, const Value& value) {
  double worst = 0.0;
  for (int j = 0; j < count; ++j) {
    const double next = value(j);
    worst = std::isnan(next) ? std::numeric_limits<double>::infinity() : std::max(worst, next);
  }
  return worst;
}

/// How large rounding errors in A x and B x are, the norms of x and B x being known.
template <class T>
void measure_sizes(const LobpcgRun<T>& run, LobpcgState<T>& state) {
  RitzPairs& ritz = state.ritz;
  if (!run.phase.verified) {
    state.sizes.bound(state.test, ritz);
    return;
  }
  state.spare.set_columns(state.x.cols());
  state.sizes.measure(state.test, state.x.v(), state.spare.view(), ritz);
  for (int j = 0; j < ritz.count(); ++j)
    state.rounding.near_tolerance = state.rounding.near_tolerance || state.test.near_rounding(ritz.pair(j));
}

/// Residual norms without the components `along` locked vectors, B being the identity.
void leave_out_locked(const SmallMatrix& along, std::vector<double>& norms) {
  for (int j = 0; j < along.cols(); ++j) {
    double& norm = norms[static_cast<std::size_t>(j)];
    double squared = norm * norm;
    for (int i = 0; i < along.rows(); ++i) squared -= along(i, j) * along(i, j);
    norm = std::sqrt(std::max(squared, 0.0));
  }
}

/// How far each value is from the old one in its place.
std::vector<double> moves_of(const std::vector<double>& before, const std::vector<double>& now) {
  std::vector<double> moves(now.size(), std::numeric_limits<double>::infinity());
  for (std::size_t j = 0; j < std::min(before.size(), now.size()); ++j) moves[j] = std::abs(now[j] - before[j]);
  return moves;
}

/// NaN where there is none.
template <class T>
double last_wanted_residual(const LobpcgRun<T>& run, const LobpcgState<T>& state) {
  const int wanted = state.wanted(run.options);
  return 0 < wanted && wanted <= static_cast<int>(state.ritz.residuals.size())
             ? state.ritz.residuals[static_cast<std::size_t>(wanted) - 1]
             : nan;
}

/// Norms that the operators do not know are estimated from X^T A X, or left out.
template <class T>
OperatorNorms operator_norms(const LobpcgRun<T>& run, const SmallMatrix& gram) {
  const LinearOperator<T>* b = run.problem.b;
  OperatorNorms norms{run.problem.a.norm_scale(), b != nullptr ? b->norm_scale() : 1.0,
                      run.problem.a.typical_row_sum(), b != nullptr};
  if (std::isnan(norms.a)) {
    norms.a = 0.0;
    for (int j = 0; j < gram.cols(); ++j) norms.a = std::max(norms.a, std::abs(gram(j, j)));
    norms.typical_a = norms.a;
  }
  if (std::isnan(norms.b)) norms.b = 1.0;
  return norms;
}

/// X <- X C, C the eigenvectors of the pencil of X^T A X (`projected`) and X^T B X (`gram`), and what follows from
/// it; P and W are dropped. False, with X as it was, where there are none.
template <class T>
bool turn_to_ritz_vectors(const LobpcgRun<T>& run, LobpcgState<T>& state, const SmallMatrix& projected,
                          const SmallMatrix& gram) {
  state.test = residual_test(run, operator_norms(run, projected));
  state.rounding.since_refresh = 0;
  state.p.narrow(0, 0);  // its rows stay as wide as they may be: they are written before they are expanded again
  state.w.set_columns(0);
  const RitzSolution solution = solve_ritz_for_all<T>(run.problem.space, [&] {
    return RitzProblem{projected, gram, 0, gram.rows(), 0.0, run.options.which == Which::largest};
  });
  if (solution.values.empty() && gram.rows() > 0) return false;
  update(run, state, solution);
  return true;
}

}  // namespace

template <class T>
ResidualTest residual_test(const LobpcgRun<T>& run, const OperatorNorms& norms) {
  // A little below the limits, so that those who compute a residual anew find it within them.
  constexpr double aim = 0.99;
  constexpr double accuracy_aim = 0.9;
  LobpcgOptions aimed = run.options;
  aimed.tolerance *= aim;
  return {aimed, norms, accuracy_aim * run.phase.accuracy * std::numeric_limits<T>::epsilon()};
}

template <class T>
void update(const LobpcgRun<T>& run, LobpcgState<T>& state, const RitzSolution& solution, bool looks_ahead) {
  BlockSpace<T>& space = run.problem.space;
  const auto nx = static_cast<LocalIndex>(solution.values.size());
  const LocalIndex np = solution.coefficients.cols() - nx;
  const ConstBlockList<T> z{state.x.v(), state.p.v(), state.w.v()};
  const ConstBlockList<T> bz{state.x.b(), state.p.b(), state.w.b()};
  const ConstBlockList<T> az =
      state.carries_images ? ConstBlockList<T>{state.x.a(), state.p.a(), state.w.a()} : ConstBlockList<T>{};
  state.x.widen(nx);
  state.p.widen(np);
  space.update(z, solution.coefficients, {state.x.v(), state.p.v()});
  if (run.problem.b != nullptr) space.update(bz, solution.coefficients, {state.x.b(), state.p.b()});
  state.r.set_columns(nx);
  state.ritz.moves = moves_of(state.ritz.values, solution.values);
  state.ritz.values = solution.values;
  RitzPairs& ritz = state.ritz;
  const double before = last_wanted_residual(run, state);
  ritz.norms.assign(ritz.values.size(), 1.0);
  ritz.image_norms = ritz.norms;
  SmallMatrix along_locked;
  Sums sums;
  if (state.carries_images) {
    space.update_residual(az, solution.coefficients, {state.x.a(), state.p.a()}, state.x.b(), ritz.values,
                          state.r.view(), ritz.residuals, sums);
  } else {
    space.residual_by_product(run.problem.a, state.x.v(), ritz.values, state.make_room_for_image_of_x(),
                              state.r.view());
    if (looks_ahead && may_look_ahead(run, state)) {
      look_ahead(run, state, ritz.residuals);
    } else {
      space.column_norms(state.r.view(), ritz.residuals, sums);
    }
  }
  if (run.problem.b != nullptr) {
    space.column_norms(state.x.v(), ritz.norms, sums);
    space.column_norms(state.x.b(), ritz.image_norms, sums);
  }
  if (state.window.one_of_many && state.deflated.locked() > 0)
    space.gram({state.deflated.v()}, {state.r.view()}, along_locked, sums);
  add_x_along_r(run, state, sums);
  space.sum(sums);
  state.projected_p = solution.projected_p;
  state.rounding.samples = solution.errors;
  state.rounding.amplification = solution.amplification;
  state.rounding.measure = false;
  leave_out_locked(along_locked, ritz.residuals);
  separate_from_guards(run, state, before);
  measure_sizes(run, state);
  if (state.rounding.near_tolerance) step_back(state);  // R is freed of X before it becomes W
}

template <class T>
double worst_ratio(const LobpcgRun<T>& run, const LobpcgState<T>& state) {
  return worst_of(state.wanted(run.options), [&](int j) { return state.ritz.ratio(state.test, j); });
}

template <class T>
double worst_distance(const LobpcgRun<T>& run, const LobpcgState<T>& state) {
  return worst_of(state.wanted(run.options), [&](int j) { return state.test.distance(state.ritz.pair(j)); });
}

template <class T>
void report(const LobpcgRun<T>& run, const LobpcgState<T>& state, int columns, int products,
            double products_to_come) {
  const auto pairs = static_cast<std::size_t>(run.options.pairs);
  LobpcgIteration entry{state.locked.values,     state.locked.residuals, run.budget.seconds(), columns, products,
                        std::is_same_v<T, float>};
  const int open = state.wanted(run.options);
  entry.eigenvalues.insert(entry.eigenvalues.end(), state.ritz.values.begin(), state.ritz.values.begin() + open);
  entry.residual_norms.insert(entry.residual_norms.end(), state.ritz.residuals.begin(),
                              state.ritz.residuals.begin() + open);
  entry.eigenvalues.resize(pairs, nan);
  entry.residual_norms.resize(pairs, nan);
  int converged = state.locked.count();
  for (int j = 0; j < open; ++j) {
    if (state.ritz.judge(state.test, j) != Outcome::not_converged) ++converged;
  }
  run.history.push_back(std::move(entry));
  if (run.problem.space.to_end_early()) run.budget.end();
  if (!run.observer && !run.proceed) return;
  const LobpcgIteration& last = run.history.back();
  const IterationReport now{run.budget.spent(),
                            run.options.pairs,
                            run.phase.verified ? converged : 0,
                            columns,
                            products,
                            products_to_come,
                            worst_ratio(run, state),
                            worst_distance(run, state),
                            run.budget.spent() + run.budget.left(),
                            last.seconds,
                            last.eigenvalues,
                            last.residual_norms,
                            last.in_float};
  if (run.observer) run.observer(now);
  if (run.proceed && !run.proceed(now)) run.budget.end();
}

template <class T>
void rayleigh_ritz_of_x(const LobpcgRun<T>& run, LobpcgState<T>& state) {
  const BlockView<T> ax = state.make_room_for_image_of_x();
  run.problem.a.apply(state.x.v(), ax);
  SmallMatrix projected;
  run.problem.space.gram({state.x.v()}, {ax}, projected);
  if (!turn_to_ritz_vectors(run, state, projected, SmallMatrix::identity(projected.rows())))
    throw NumericalError("lobpcg: A x holds values that are not finite, x being of norm 1");
}

template <class T>
bool rayleigh_ritz_of_rounded_x(const LobpcgRun<T>& run, LobpcgState<T>& state) {
  constexpr double most = 0.01;
  const int width = state.x.cols();
  const BlockView<T> ax = state.make_room_for_image_of_x();
  run.problem.a.apply(state.x.v(), ax);
  if (run.problem.b != nullptr) run.problem.b->apply(state.x.v(), state.x.b());
  SmallMatrix products;
  run.problem.space.gram({state.x.v()}, {ax, state.x.b()}, products);
  SmallMatrix projected(width, width);
  SmallMatrix gram(width, width);
  fill_leading(projected, products, 0);
  fill_leading(gram, products, width);
  if (!(deviation_from_identity(gram) <= most)) return false;
  return turn_to_ritz_vectors(run, state, projected, gram);
}

template <class T>
void take_ritz_vectors(const LobpcgRun<T>& run, LobpcgState<T>& state, std::vector<double> values,
                       ConstBlockView<T> ax) {
  RitzPairs& ritz = state.ritz;
  state.p.set_columns(0);
  state.w.set_columns(0);
  state.r.set_columns(state.active());
  ritz.moves = moves_of(ritz.values, values);
  ritz.values = std::move(values);
  ritz.norms.assign(ritz.values.size(), 1.0);
  ritz.image_norms = ritz.norms;
  Sums sums;
  run.problem.space.residual(ax, state.x.v(), ritz.values, state.r.view(), ritz.residuals, sums);
  add_x_along_r(run, state, sums);
  run.problem.space.sum(sums);
  state.projected_p = {};
  state.rounding.samples = {};
  state.rounding.amplification = 1.0;
  state.rounding.measure = false;
  state.rounding.since_refresh = 0;
  measure_sizes(run, state);
}

template ResidualTest residual_test(const LobpcgRun<float>&, const OperatorNorms&);
template ResidualTest residual_test(const LobpcgRun<double>&, const OperatorNorms&);
template void update(const LobpcgRun<float>&, LobpcgState<float>&, const RitzSolution&, bool);
template void report(const LobpcgRun<float>&, const LobpcgState<float>&, int, int, double);
template void rayleigh_ritz_of_x(const LobpcgRun<float>&, LobpcgState<float>&);
template bool rayleigh_ritz_of_rounded_x(const LobpcgRun<float>&, LobpcgState<float>&);
template void take_ritz_vectors(const LobpcgRun<float>&, LobpcgState<float>&, std::vector<double>,
                                ConstBlockView<float>);
template double worst_ratio(const LobpcgRun<float>&, const LobpcgState<float>&);
template void update(const LobpcgRun<double>&, LobpcgState<double>&, const RitzSolution&, bool);
template void report(const LobpcgRun<double>&, const LobpcgState<double>&, int, int, double);
template void rayleigh_ritz_of_x(const LobpcgRun<double>&, LobpcgState<double>&);
template bool rayleigh_ritz_of_rounded_x(const LobpcgRun<double>&, LobpcgState<double>&);
template void take_ritz_vectors(const LobpcgRun<double>&, LobpcgState<double>&, std::vector<double>,
                                ConstBlockView<double>);
template double worst_ratio(const LobpcgRun<double>&, const LobpcgState<double>&);

}  // namespace block_eigs
