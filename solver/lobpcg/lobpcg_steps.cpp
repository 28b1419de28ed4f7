#include "solver/lobpcg/lobpcg_steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "solver/lobpcg/inverse_iteration.hpp"
#include "solver/space/orthonormalize.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// Coefficients of w - v (v^T B w) in terms of [v w].
SmallMatrix projection(const SmallMatrix& products, int vectors) {
  const int columns = products.cols();
  SmallMatrix coefficients(vectors + columns, columns);
  for (int j = 0; j < columns; ++j) {
    for (int i = 0; i < vectors; ++i) coefficients(i, j) = -products(i, j);
    coefficients(vectors + j, j) = 1.0;
  }
  return coefficients;
}

/// Whether the projection takes more than nine tenths of some column away: what is left is then less orthogonal
/// than rounding errors allow. `products` holds v^T w and below it w^T w.
bool cancels(const SmallMatrix& products, int vectors) {
  for (int j = 0; j < products.cols(); ++j) {
    double along = 0.0;
    for (int i = 0; i < vectors; ++i) along += products(i, j) * products(i, j);
    if (along > 0.99 * products(vectors + j, j)) return true;
  }
  return false;
}

/// [V W]^T B W with V deflated, B W being W where it is compared with itself; nothing where there is no V.
template <class T>
void add_along_deflated(const EigenProblem<T>& problem, const LobpcgState<T>& state, BlockView<T> w,
                        SmallMatrix& products, Sums& sums) {
  if (state.deflated.cols() > 0) problem.space.gram({state.deflated.b(), w}, {w}, products, sums);
}

/// W -= V (V^T B W) from these products. Whether that took away most of a column.
template <class T>
bool take_out_deflated(const EigenProblem<T>& problem, const LobpcgState<T>& state, BlockView<T> w,
                       const SmallMatrix& products) {
  const int vectors = state.deflated.cols();
  if (products.cols() == 0) return false;
  problem.space.update({state.deflated.v(), w}, projection(products, vectors), {w});
  return cancels(products, vectors);
}

template <class T>
bool deflate_once(const EigenProblem<T>& problem, const LobpcgState<T>& state, BlockView<T> w) {
  SmallMatrix products;
  Sums sums;
  add_along_deflated(problem, state, w, products, sums);
  problem.space.sum(sums);
  return take_out_deflated(problem, state, w, products);
}

/// R^T M^-1 R, column by column, in the iterations that look whether M is positive definite: the first ones and
/// every tenth. Behind M^-1 R there are `fresh` columns in W.
template <class T>
void add_inner_squares(const LobpcgRun<T>& run, const LobpcgState<T>& state, int fresh, std::vector<double>& dots,
                       Sums& sums) {
  constexpr int always_until = 3;
  constexpr int period = 10;
  const int spent = run.budget.spent() - run.first_iteration;
  if (run.problem.preconditioner == nullptr || (spent >= always_until && spent % period != 0)) return;
  const LocalIndex columns = state.w.cols() - fresh;
  run.problem.space.column_dots(state.r.columns(0, columns), state.w.v().columns(0, columns), dots, sums);
}

/// False where one of them is negative beyond rounding errors or not finite. W is as it was.
template <class T>
bool is_positive_definite(const LobpcgRun<T>& run, const LobpcgState<T>& state, const std::vector<double>& dots) {
  std::vector<double> norms;
  for (std::size_t j = 0; j < dots.size(); ++j) {
    if (dots[j] > 0.0 && std::isfinite(dots[j])) continue;
    const auto columns = static_cast<LocalIndex>(dots.size());
    if (norms.empty()) norms = run.problem.space.column_norms(state.w.v().columns(0, columns));
    // One that works in float is not told from a definite one within float's rounding errors.
    constexpr double rounding = 1e-4;
    if (!(dots[j] >= -rounding * norms[j] * state.ritz.residuals[j])) return false;
  }
  return true;
}

/// R -= B X (X^T R). A Ritz value is known to epsilon ||A||, so that a small residual is X in good part, and a
/// preconditioner that varies a lot would turn it into little else.
template <class T>
void free_of_x(const LobpcgRun<T>& run, LobpcgState<T>& state) {
  if (state.active() == 0) return;  // all of a window locked at once, random columns to come
  SmallMatrix& products = state.x_along_r;
  if (products.cols() == 0) run.problem.space.gram({state.x.v()}, {state.r.view()}, products);
  run.problem.space.update({state.x.b(), state.r.view()}, projection(products, state.active()), {state.r.view()});
  products = {};
}

/// Without the leading `count` rows.
void leave_out_leading(SmallMatrix& matrix, int count) {
  if (matrix.rows() <= count) {
    matrix = {};
    return;
  }
  SmallMatrix rest(matrix.rows() - count, matrix.cols());
  for (int j = 0; j < rest.cols(); ++j) std::copy_n(matrix.column(j) + count, rest.rows(), rest.column(j));
  matrix = std::move(rest);
}

}  // namespace

template <class T>
void lock_converged(const LobpcgRun<T>& run, LobpcgState<T>& state) {
  const int wanted = state.wanted(run.options);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto leading = [&](double share, double most) {
    int count = 0;
    while (count < wanted && state.test.within(share, most, state.ritz.pair(count))) ++count;
    return count;
  };
  // Where nobody is left behind, the limits themselves will do. Else what is left of a residual may be part of
  // the residuals of all others: no more than these have to come to.
  const int done = leading(1.0, infinity);
  int count = done;
  if (state.locked.count() + done < run.options.pairs) {
    double most = infinity;
    for (int j = 0; j < wanted; ++j) most = std::min(most, state.ritz.enough(state.test, j));
    count = leading(state.window.lock_share, most);
  }
  if (count == 0) return;
  step_back(state);
  BlockSpace<T>& space = run.problem.space;
  state.deflated.append(space, state.x.v().columns(0, count), state.x.b().columns(0, count));
  state.locked.append(state.ritz.take_leading(count));
  leave_out_leading(state.rounding.samples, count);
  state.x_along_r = {};
  const LocalIndex left = state.active() - count;
  state.x.narrow(count, left);
  state.r.narrow(count, left);
}

template <class T>
int fresh_columns(const LobpcgRun<T>& run, const LobpcgState<T>& state) {
  const Window& window = state.window;
  const int room =
      std::min(window.width, run.options.pairs - state.locked.count() + window.guard) - state.active();
  return window.refills ? std::max(room, 0) : 0;
}

template <class T>
int columns_with_directions(const LobpcgRun<T>& run, const LobpcgState<T>& state) {
  constexpr double most_ratio = 300.0;
  const int wanted = state.wanted(run.options);
  const bool few_guards = state.active() - wanted <= wanted / 2;
  const bool rest = may_rest(run) && few_guards && worst_ratio(run, state) <= most_ratio;
  return rest ? wanted : state.active();
}

template <class T>
int expand(const LobpcgRun<T>& run, LobpcgState<T>& state) {
  const EigenProblem<T>& problem = run.problem;
  BlockSpace<T>& space = problem.space;
  const int columns = columns_with_directions(run, state);
  const int fresh = fresh_columns(run, state);
  state.x.compact(space, state.active() + fresh, state.spare);
  state.p.compact(space, std::max(state.p.cols(), state.active() + fresh), state.spare);
  state.w.set_columns(columns + fresh);
  if (state.rounding.near_tolerance) free_of_x(run, state);
  if (problem.preconditioner == nullptr && fresh == 0 && state.r.is_at_front()) {
    std::swap(state.r, state.w.vectors());  // R is computed anew before anybody asks for it
    state.w.vectors().narrow(0, columns);
    return fresh;
  }
  const BlockView<T> w = state.w.v();
  if (problem.preconditioner != nullptr && columns > 0) {
    const Profile::Scope scope(space.profile(), Phase::preconditioner);
    const auto norms = std::span<const double>(state.ritz.residuals).first(static_cast<std::size_t>(columns));
    problem.preconditioner->apply_sized(state.r.columns(0, columns), norms, w.columns(0, columns));
    space.clear_left_out(w.columns(0, columns));
  } else {
    space.copy(state.r.columns(0, columns), w.columns(0, columns));
  }
  fill_random(run, state, w.columns(columns, fresh),
              run.options.seed + 1000 + static_cast<std::uint64_t>(run.budget.spent()));
  return fresh;
}

template <class T>
void deflate(const EigenProblem<T>& problem, LobpcgState<T>& state) {
  deflate(problem, state, state.w.v());
}

template <class T>
void deflate(const EigenProblem<T>& problem, const LobpcgState<T>& state, BlockView<T> w) {
  constexpr int most_passes = 2;
  bool again = state.deflated.cols() > 0 && w.cols > 0;
  for (int pass = 0; again && pass < most_passes; ++pass) {
    const bool cancelled = deflate_once(problem, state, w);
    // With B the lengths compared are those of different norms.
    again = problem.b != nullptr || cancelled;
  }
}

template <class T>
void orthonormalize_w(const LobpcgRun<T>& run, LobpcgState<T>& state, const SmallMatrix* products) {
  try {
    state.w.narrow(0, orthonormalize<T>(run.problem.space, {state.deflated.v(), state.x.v(), state.p.v()},
                                        state.w.v(), state.w.b(), {state.deflated.b(), state.x.b(), state.p.b()},
                                        Orthonormality::well_conditioned, run.problem.b, products));
  } catch (const NumericalError&) {
    state.w.narrow(0, 0);  // values that are not finite: nothing new to be had from W
  }
}

template <class T>
bool orthogonalize(const LobpcgRun<T>& run, LobpcgState<T>& state, int fresh) {
  const EigenProblem<T>& problem = run.problem;
  BlockSpace<T>& space = problem.space;
  const BlockView<T> w = state.w.v();
  const bool strict = acceptable_pivot(run, state) > strict_pivot;
  Sums sums;
  std::vector<double> dots;
  SmallMatrix products;
  add_inner_squares(run, state, fresh, dots, sums);
  if (strict) {
    if (problem.b != nullptr) problem.b->apply(w, state.w.b());
    space.gram({state.deflated.v(), state.x.v(), state.p.v(), w}, {state.w.b()}, products, sums);
    space.sum(sums);
    if (!is_positive_definite(run, state, dots)) return false;
    orthonormalize_w(run, state, &products);
    return true;
  }
  add_along_deflated(problem, state, w, products, sums);
  space.sum(sums);
  if (!is_positive_definite(run, state, dots)) return false;
  // With B what is left is measured beside the small problem: see rayleigh_ritz.
  const bool cancelled = take_out_deflated<T>(problem, state, w, products);
  if (cancelled && problem.b == nullptr) deflate_once(problem, state, w);
  if (problem.b != nullptr) problem.b->apply(w, state.w.b());
  return true;
}

template void lock_converged(const LobpcgRun<float>&, LobpcgState<float>&);
template int fresh_columns(const LobpcgRun<float>&, const LobpcgState<float>&);
template int columns_with_directions(const LobpcgRun<float>&, const LobpcgState<float>&);
template int expand(const LobpcgRun<float>&, LobpcgState<float>&);
template void deflate(const EigenProblem<float>&, LobpcgState<float>&);
template void deflate(const EigenProblem<float>&, const LobpcgState<float>&, BlockView<float>);
template void orthonormalize_w(const LobpcgRun<float>&, LobpcgState<float>&, const SmallMatrix*);
template bool orthogonalize(const LobpcgRun<float>&, LobpcgState<float>&, int);
template void lock_converged(const LobpcgRun<double>&, LobpcgState<double>&);
template int fresh_columns(const LobpcgRun<double>&, const LobpcgState<double>&);
template int columns_with_directions(const LobpcgRun<double>&, const LobpcgState<double>&);
template int expand(const LobpcgRun<double>&, LobpcgState<double>&);
template void deflate(const EigenProblem<double>&, LobpcgState<double>&);
template void deflate(const EigenProblem<double>&, const LobpcgState<double>&, BlockView<double>);
template void orthonormalize_w(const LobpcgRun<double>&, LobpcgState<double>&, const SmallMatrix*);
template bool orthogonalize(const LobpcgRun<double>&, LobpcgState<double>&, int);

}  // namespace block_eigs
