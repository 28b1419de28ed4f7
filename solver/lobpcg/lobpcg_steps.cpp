#include "solver/lobpcg/lobpcg_steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "solver/space/orthonormalize.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

template <class T>
void check_preconditioner(const LobpcgRun<T>& run, const LobpcgState<T>& state, int columns) {
  constexpr int period = 10;
  if (run.problem.preconditioner == nullptr || run.budget.spent() % period != 0) return;
  const std::vector<double> dots =
      run.problem.space.column_dots(state.r.columns(0, columns), state.w.v().columns(0, columns));
  for (std::size_t j = 0; j < dots.size(); ++j) {
    if (dots[j] > 0.0 || state.ritz.residuals[j] == 0.0) continue;
    throw NumericalError("the preconditioner is not positive definite: r'M^-1 r = " + std::to_string(dots[j]) +
                         " for a residual of norm " + std::to_string(state.ritz.residuals[j]));
  }
}

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

}  // namespace

template <class T>
void lock_converged(const LobpcgRun<T>& run, LobpcgState<T>& state) {
  const int wanted = state.wanted(run.options);
  const auto leading = [&](double share) {
    int count = 0;
    while (count < wanted && state.ritz.within(share, state.test, count)) ++count;
    return count;
  };
  // Where nobody is left behind, the limit itself will do.
  const int done = leading(1.0);
  const int count = state.locked.count() + done == run.options.pairs ? done : leading(state.window.lock_share);
  if (count == 0) return;
  BlockSpace<T>& space = run.problem.space;
  state.deflated.append(space, state.x.v().columns(0, count), state.x.b().columns(0, count));
  state.locked.append(state.ritz.take_leading(count));
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
  if (problem.preconditioner != nullptr) {
    const Profile::Scope scope(space.profile(), Phase::preconditioner);
    problem.preconditioner->apply(state.r.columns(0, columns), w.columns(0, columns));
  } else {
    space.copy(state.r.columns(0, columns), w.columns(0, columns));
  }
  check_preconditioner(run, state, columns);
  if (fresh > 0) {
    space.fill_random(w.columns(columns, fresh),
                      run.options.seed + 1000 + static_cast<std::uint64_t>(run.budget.spent()));
  }
  return fresh;
}

template <class T>
void deflate(const EigenProblem<T>& problem, LobpcgState<T>& state) {
  constexpr int most_passes = 2;
  const LocalIndex vectors = state.deflated.cols();
  const BlockView<T> w = state.w.v();
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
void orthogonalize(const LobpcgRun<T>& run, LobpcgState<T>& state) {
  const bool strict = acceptable_pivot(run, state) > strict_pivot;
  if (!strict) deflate(run.problem, state);
  if (run.problem.b != nullptr) run.problem.b->apply(state.w.v(), state.w.b());
  if (!strict) return;
  state.w.narrow(0, orthonormalize<T>(run.problem.space, {state.deflated.v(), state.x.v(), state.p.v()},
                                      state.w.v(), state.w.b(), {state.deflated.b(), state.x.b(), state.p.b()},
                                      Orthonormality::well_conditioned));
}

template void lock_converged(const LobpcgRun<float>&, LobpcgState<float>&);
template int expand(const LobpcgRun<float>&, LobpcgState<float>&);
template void deflate(const EigenProblem<float>&, LobpcgState<float>&);
template void orthogonalize(const LobpcgRun<float>&, LobpcgState<float>&);
template void lock_converged(const LobpcgRun<double>&, LobpcgState<double>&);
template int expand(const LobpcgRun<double>&, LobpcgState<double>&);
template void deflate(const EigenProblem<double>&, LobpcgState<double>&);
template void orthogonalize(const LobpcgRun<double>&, LobpcgState<double>&);

}  // namespace block_eigs
