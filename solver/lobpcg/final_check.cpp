#include "solver/lobpcg/final_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "solver/lobpcg/lobpcg_start.hpp"
#include "solver/lobpcg/lobpcg_steps.hpp"
#include "solver/lobpcg/wanted_order.hpp"
#include "solver/small/dependent_columns.hpp"
#include "solver/small/gram_matrix.hpp"
#include "solver/small/lapack.hpp"
#include "solver/space/orthonormalize.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// Deviation of V^T B V from I beyond which V is mended: about what sums of n products leave.
template <class T>
double orthonormality_limit() {
  return 1e3 * std::numeric_limits<T>::epsilon();
}

/// B V anew, V locked: what was carried along by updates differs from it where B is badly conditioned.
template <class T>
void renew_mass_products(const LobpcgRun<T>& run, LobpcgState<T>& state) {
  if (run.problem.b == nullptr) return;
  const LocalIndex total = state.deflated.locked();
  for (LocalIndex first = 0; first < total; first += state.window.width) {
    const LocalIndex count = std::min<LocalIndex>(state.window.width, total - first);
    run.problem.b->apply(state.deflated.locked_v(first, count), state.deflated.locked_b(first, count));
  }
}

/// B V anew, and V <- V L^-T, L L^T = V^T B V, where that differs from I. Vectors so close to dependence that what
/// is left of one would be rounding errors of others stay. The last V^T B V.
template <class T>
SmallMatrix mend_orthonormality(const LobpcgRun<T>& run, LobpcgState<T>& state) {
  constexpr int most_passes = 3;
  constexpr double least_left = 0.1;
  BlockSpace<T>& space = run.problem.space;
  const BlockView<T> v = state.deflated.locked_v(0, state.deflated.locked());
  const BlockView<T> bv = state.deflated.locked_b(0, state.deflated.locked());
  SmallMatrix gram;
  for (int pass = 0;; ++pass) {
    renew_mass_products(run, state);
    space.gram({v}, {bv}, gram);
    if (pass == most_passes || !(deviation_from_identity(gram) > orthonormality_limit<T>())) return gram;
    SmallMatrix mending;
    space.on_root(
        [&] {
          SmallMatrix root = gram;
          if (!lapack::cholesky(root)) return;
          for (int j = 0; j < root.cols(); ++j) {
            if (root(j, j) < least_left * std::sqrt(gram(j, j))) return;
          }
          mending = SmallMatrix::identity(root.rows());
          lapack::solve_lower_transposed(root, mending);
        },
        {&mending});
    if (mending.cols() == 0) return gram;
    space.update({v}, mending, {v});
  }
}

/// B-orthonormal V, also where some of it lies in the span of the rest, which no rotation mends: there random
/// vectors outside of it take its place, as far as there are any in this precision. These are no pairs, but they
/// hide none, and iterations go on from them as from any. The last V^T B V.
template <class T>
SmallMatrix make_orthonormal(const LobpcgRun<T>& run, LobpcgState<T>& state) {
  BlockSpace<T>& space = run.problem.space;
  SmallMatrix gram = mend_orthonormality(run, state);
  std::vector<bool> staying = dependent_columns(gram);
  const auto leaving = static_cast<LocalIndex>(std::count(staying.begin(), staying.end(), true));
  if (leaving == 0) return gram;
  staying.flip();
  state.deflated.retain_locked(space, staying);
  state.x.set_columns(std::min<LocalIndex>(leaving, state.window.width));
  space.fill_random(state.x.v(), run.options.seed + 1000 + static_cast<std::uint64_t>(run.budget.spent()));
  if (run.problem.b != nullptr) run.problem.b->apply(state.x.v(), state.x.b());
  const LocalIndex found = orthonormalize<T>(space, {state.deflated.v()}, state.x.v(), state.x.b(),
                                             {state.deflated.b()}, Orthonormality::to_rounding, run.problem.b);
  state.x.narrow(0, found);
  state.deflated.append(space, state.x.v(), state.x.b());
  return mend_orthonormality(run, state);
}

/// V <- V C, C the eigenvectors of V^T A V: what pairs that were locked one after the other have left of each
/// other.
template <class T>
void rotate_to_ritz_vectors(const LobpcgRun<T>& run, LobpcgState<T>& state) {
  BlockSpace<T>& space = run.problem.space;
  const LocalIndex total = state.deflated.locked();
  const BlockView<T> v = state.deflated.locked_v(0, total);
  SmallMatrix projected, part;
  space.comm().collectively([&] { projected.resize(total, total); });
  for (LocalIndex first = 0; first < total; first += state.window.width) {
    const LocalIndex count = std::min<LocalIndex>(state.window.width, total - first);
    state.w.set_columns(count);
    run.problem.a.apply(state.deflated.locked_v(first, count), state.w.a());
    space.gram({v}, {state.w.a()}, part);
    std::copy_n(part.data(), part.values().size(), projected.column(first));
  }
  space.on_root([&] { lapack::symmetric_eigen(projected); }, {&projected});
  space.update({v}, projected, {v});
  if (run.problem.b == nullptr) return;
  const BlockView<T> bv = state.deflated.locked_b(0, total);
  space.update({bv}, projected, {bv});
}

/// For who goes on from there, who can do without.
template <class T>
void write_guards(const LobpcgRun<T>& run, LobpcgState<T>& state, const FinalCheck& check,
                  EigenResult<T>& result) {
  BlockSpace<T>& space = run.problem.space;
  const int pairs = check.found(run.options.pairs);
  try {
    result.guards = space.make_block(check.pairs.count() - pairs);
  } catch (const OnAllRanks&) {
    return;  // no memory
  }
  space.copy_columns(state.deflated.locked_v(0, state.deflated.locked()),
                     std::span(check.columns).subspan(static_cast<std::size_t>(pairs)), result.guards.view());
}

}  // namespace

template <class T>
FinalCheck check_locked(const LobpcgRun<T>& run, LobpcgState<T>& state, bool rotate) {
  const EigenProblem<T>& problem = run.problem;
  BlockSpace<T>& space = problem.space;
  state.deflated.append(space, state.x.v(), state.x.b());
  const std::vector<bool> dependent = dependent_columns(make_orthonormal(run, state));
  if ((rotate || state.window.one_of_many) && state.deflated.locked() > 0) rotate_to_ritz_vectors(run, state);
  RitzPairs all;
  const LocalIndex total = state.deflated.locked();
  for (LocalIndex first = 0; first < total; first += state.window.width) {
    const LocalIndex count = std::min<LocalIndex>(state.window.width, total - first);
    const BlockView<T> x = state.deflated.locked_v(first, count);
    const ConstBlockView<T> bx = state.deflated.locked_b(first, count);
    state.w.set_columns(count);
    problem.a.apply(x, state.w.a());
    RitzPairs part;
    part.values = space.column_dots(x, state.w.a());
    const std::vector<double> squared = space.column_dots(x, bx);
    for (std::size_t j = 0; j < squared.size(); ++j) part.values[j] /= squared[j];
    state.r.set_columns(count);
    part.residuals = space.residual(state.w.a(), bx, part.values, state.r.view());
    const std::vector<double> ones(part.values.size(), 1.0);
    part.image_norms = problem.b != nullptr ? space.column_norms(bx) : ones;
    part.norms = problem.b != nullptr ? space.column_norms(x) : ones;
    part.moves.assign(part.values.size(), 0.0);
    state.sizes.measure(state.test, x, state.w.a(), part);
    // No pairs of their own: there is none whose residual could be told.
    for (LocalIndex j = 0; j < count; ++j) {
      if (dependent[static_cast<std::size_t>(first) + static_cast<std::size_t>(j)])
        part.residuals[static_cast<std::size_t>(j)] = std::numeric_limits<double>::infinity();
    }
    all.append(part);
  }
  FinalCheck check;
  check.columns = wanted_order(run.options, state.test, all);
  check.pairs = all.in_order(check.columns);
  for (int j = 0; j < check.found(run.options.pairs); ++j) {
    if (check.pairs.judge(state.test, j) == Outcome::not_converged) check.failed.push_back(j);
  }
  return check;
}

template <class T>
void reopen(const LobpcgRun<T>& run, LobpcgState<T>& state, const FinalCheck& check) {
  BlockSpace<T>& space = run.problem.space;
  const int all = check.pairs.count();
  std::vector<int> pairs = check.failed;
  for (int j = run.options.pairs; j < all; ++j) pairs.push_back(j);
  pairs.resize(std::min<std::size_t>(pairs.size(), static_cast<std::size_t>(state.window.width)));
  std::vector<bool> staying(static_cast<std::size_t>(all), true);
  state.x.set_columns(static_cast<LocalIndex>(pairs.size()));
  std::vector<int> leaving;
  for (const int pair : pairs) {
    leaving.push_back(check.columns[static_cast<std::size_t>(pair)]);
    staying[static_cast<std::size_t>(leaving.back())] = false;
  }
  space.copy_columns(state.deflated.locked_v(0, state.deflated.locked()), leaving, state.x.v());
  if (run.problem.b != nullptr)
    space.copy_columns(state.deflated.locked_b(0, state.deflated.locked()), leaving, state.x.b());
  std::vector<int> by_column(static_cast<std::size_t>(all));
  for (int j = 0; j < all; ++j)
    by_column[static_cast<std::size_t>(check.columns[static_cast<std::size_t>(j)])] = j;
  std::vector<int> left;
  for (int column = 0; column < all; ++column) {
    if (staying[static_cast<std::size_t>(column)]) left.push_back(by_column[static_cast<std::size_t>(column)]);
  }
  state.locked = check.pairs.in_order(left);
  state.deflated.retain_locked(space, staying);
  state.window.target = run.options.pairs;
  state.window.lock_share = 1.0;
  state.window.one_of_many = false;
  rayleigh_ritz_of_x(run, state);
}

template <class T>
void write_result(const LobpcgRun<T>& run, LobpcgState<T>& state, const FinalCheck& check,
                  EigenResult<T>& result) {
  const int pairs = check.found(run.options.pairs);
  result.eigenvalues.assign(check.pairs.values.begin(), check.pairs.values.begin() + pairs);
  result.residual_norms.assign(check.pairs.residuals.begin(), check.pairs.residuals.begin() + pairs);
  for (int j = 0; j < pairs; ++j) result.outcomes.push_back(check.pairs.judge(state.test, j));
  result.error_bounds = run.problem.b == nullptr ? result.residual_norms
                                                 : std::vector<double>(static_cast<std::size_t>(pairs),
                                                                       std::numeric_limits<double>::quiet_NaN());
  result.eigenvectors = run.problem.space.make_block(pairs);
  run.problem.space.copy_columns(state.deflated.locked_v(0, state.deflated.locked()),
                                 std::span(check.columns).first(static_cast<std::size_t>(pairs)),
                                 result.eigenvectors.view());
  if (run.budget.ended()) write_guards(run, state, check, result);
}

template FinalCheck check_locked(const LobpcgRun<float>&, LobpcgState<float>&, bool);
template void reopen(const LobpcgRun<float>&, LobpcgState<float>&, const FinalCheck&);
template void write_result(const LobpcgRun<float>&, LobpcgState<float>&, const FinalCheck&, EigenResult<float>&);
template FinalCheck check_locked(const LobpcgRun<double>&, LobpcgState<double>&, bool);
template void reopen(const LobpcgRun<double>&, LobpcgState<double>&, const FinalCheck&);
template void write_result(const LobpcgRun<double>&, LobpcgState<double>&, const FinalCheck&,
                           EigenResult<double>&);

}  // namespace block_eigs
