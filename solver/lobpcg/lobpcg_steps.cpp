#include "solver/lobpcg/lobpcg_steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

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

/// R -= B X (X^T R). A Ritz value is known to epsilon ||A||, so that a small residual is X in good part, and a
/// preconditioner that varies a lot would turn it into little else.
template <class T>
void free_of_x(const LobpcgRun<T>& run, LobpcgState<T>& state) {
  if (state.active() == 0) return;  // all of a window locked at once, random columns to come
  SmallMatrix products;
  run.problem.space.gram({state.x.v()}, {state.r.view()}, products);
  run.problem.space.update({state.x.b(), state.r.view()}, projection(products, state.active()), {state.r.view()});
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
  BlockSpace<T>& space = run.problem.space;
  state.deflated.append(space, state.x.v().columns(0, count), state.x.b().columns(0, count));
  state.locked.append(state.ritz.take_leading(count));
  leave_out_leading(state.rounding.samples, count);
  const LocalIndex left = state.active() - count;
  state.x.narrow(count, left);
  state.r.narrow(count, left);
}

template <class T>
int expand(const LobpcgRun<T>& run, LobpcgState<T>& state) {
  const EigenProblem<T>& problem = run.problem;
  BlockSpace<T>& space = problem.space;
  const Window& window = state.window;
  const int columns = columns_with_directions(run, state);
  const int room =
      std::min(window.width, run.options.pairs - state.locked.count() + window.guard) - state.active();
  const int fresh = window.refills ? std::max(room, 0) : 0;
  state.x.compact(space, state.active() + fresh, state.spare);
  state.p.compact(space, std::max(state.p.cols(), state.active() + fresh), state.spare);
  state.w.set_columns(columns + fresh);
  const BlockView<T> w = state.w.v();
  if (state.rounding.near_tolerance) free_of_x(run, state);
  if (problem.preconditioner != nullptr && columns > 0) {
    const Profile::Scope scope(space.profile(), Phase::preconditioner);
    problem.preconditioner->apply(state.r.columns(0, columns), w.columns(0, columns));
    space.clear_left_out(w.columns(0, columns));
  } else {
    space.copy(state.r.columns(0, columns), w.columns(0, columns));
  }
  if (fresh > 0) {
    space.fill_random(w.columns(columns, fresh),
                      run.options.seed + 1000 + static_cast<std::uint64_t>(run.budget.spent()));
  }
  return fresh;
}

template <class T>
bool preconditioner_is_sound(const LobpcgRun<T>& run, const LobpcgState<T>& state, int fresh) {
  constexpr int always_until = 3;
  constexpr int period = 10;
  const int spent = run.budget.spent() - run.first_iteration;
  if (run.problem.preconditioner == nullptr || (spent >= always_until && spent % period != 0)) return true;
  const LocalIndex columns = state.w.cols() - fresh;
  if (columns == 0) return true;
  const ConstBlockView<T> w = state.w.v().columns(0, columns);
  const std::vector<double> dots = run.problem.space.column_dots(state.r.columns(0, columns), w);
  std::vector<double> norms;
  for (std::size_t j = 0; j < dots.size(); ++j) {
    if (dots[j] > 0.0 && std::isfinite(dots[j])) continue;
    if (norms.empty()) norms = run.problem.space.column_norms(w);
    // One that works in float is not told from a definite one within float's rounding errors.
    constexpr double rounding = 1e-4;
    if (!(dots[j] >= -rounding * norms[j] * state.ritz.residuals[j])) return false;
  }
  return true;
}

template <class T>
void deflate(const EigenProblem<T>& problem, LobpcgState<T>& state) {
  deflate(problem, state, state.w.v());
}

template <class T>
void deflate(const EigenProblem<T>& problem, const LobpcgState<T>& state, BlockView<T> w) {
  constexpr int most_passes = 2;
  const LocalIndex vectors = state.deflated.cols();
  bool again = vectors > 0 && w.cols > 0;
  for (int pass = 0; again && pass < most_passes; ++pass) {
    SmallMatrix products;
    problem.space.gram({state.deflated.b(), w}, {w}, products);
    problem.space.update({state.deflated.v(), w}, projection(products, vectors), {w});
    // With B the lengths compared would be those of different norms.
    again = problem.b != nullptr || cancels(products, vectors);
  }
}

template <class T>
void orthonormalize_w(const LobpcgRun<T>& run, LobpcgState<T>& state) {
  try {
    state.w.narrow(0, orthonormalize<T>(run.problem.space, {state.deflated.v(), state.x.v(), state.p.v()},
                                        state.w.v(), state.w.b(), {state.deflated.b(), state.x.b(), state.p.b()},
                                        Orthonormality::well_conditioned, run.problem.b));
  } catch (const NumericalError&) {
    state.w.narrow(0, 0);  // values that are not finite: nothing new to be had from W
  }
}

template <class T>
void orthogonalize(const LobpcgRun<T>& run, LobpcgState<T>& state) {
  const bool strict = acceptable_pivot(run, state) > strict_pivot;
  if (!strict) deflate(run.problem, state);
  if (run.problem.b != nullptr) run.problem.b->apply(state.w.v(), state.w.b());
  if (strict) orthonormalize_w(run, state);
}

template void lock_converged(const LobpcgRun<float>&, LobpcgState<float>&);
template int expand(const LobpcgRun<float>&, LobpcgState<float>&);
template bool preconditioner_is_sound(const LobpcgRun<float>&, const LobpcgState<float>&, int);
template void deflate(const EigenProblem<float>&, LobpcgState<float>&);
template void deflate(const EigenProblem<float>&, const LobpcgState<float>&, BlockView<float>);
template void orthonormalize_w(const LobpcgRun<float>&, LobpcgState<float>&);
template void orthogonalize(const LobpcgRun<float>&, LobpcgState<float>&);
template void lock_converged(const LobpcgRun<double>&, LobpcgState<double>&);
template int expand(const LobpcgRun<double>&, LobpcgState<double>&);
template bool preconditioner_is_sound(const LobpcgRun<double>&, const LobpcgState<double>&, int);
template void deflate(const EigenProblem<double>&, LobpcgState<double>&);
template void deflate(const EigenProblem<double>&, const LobpcgState<double>&, BlockView<double>);
template void orthonormalize_w(const LobpcgRun<double>&, LobpcgState<double>&);
template void orthogonalize(const LobpcgRun<double>&, LobpcgState<double>&);

}  // namespace block_eigs
