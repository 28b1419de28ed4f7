#include "solver/lobpcg/inverse_iteration.hpp"

#include <algorithm>
#include <vector>

#include "solver/lobpcg/lobpcg_start.hpp"
#include "solver/lobpcg/lobpcg_steps.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

template <class T>
void apply_preconditioner(const EigenProblem<T>& problem, ConstBlockView<T> x, BlockView<T> y) {
  const Profile::Scope scope(problem.space.profile(), Phase::preconditioner);
  problem.preconditioner->apply(x, y);
  problem.space.clear_left_out(y);
}

/// Leading Ritz values that lie beyond all there are now by more than rounding errors: of the first so many pairs
/// nothing is left. A Ritz value is a bound of as many eigenvalues as it has before it, so that one that was seen
/// may not be given up.
template <class T>
LocalIndex pairs_lost(const LobpcgRun<T>& run, const LobpcgState<T>& state, const std::vector<double>& values,
                      const std::vector<double>& errors) {
  constexpr double roundings = 10.0;
  if (state.ritz.values.empty()) return 0;
  const double sign = run.options.which == Which::largest ? -1.0 : 1.0;
  const double best = sign * state.ritz.values.front();
  LocalIndex lost = 0;
  for (std::size_t j = 0; j < values.size() && sign * values[j] + roundings * errors[j] < best; ++j) ++lost;
  return lost;
}

/// How far rounding errors in A x and B x may move each Ritz value.
template <class T>
std::vector<double> errors_of_values(const LobpcgState<T>& state) {
  std::vector<double> errors;
  for (int j = 0; j < state.active(); ++j) {
    const RitzPair pair = state.ritz.pair(j);
    errors.push_back(state.test.accuracy_limit(pair) * pair.norm);
  }
  return errors;
}

}  // namespace

template <class T>
void fill_random(const LobpcgRun<T>& run, LobpcgState<T>& state, BlockView<T> y, std::uint64_t seed) {
  if (y.cols == 0) return;
  if (!run.options.exact_inverse || run.problem.preconditioner == nullptr) {
    run.problem.space.fill_random(y, seed);
    return;
  }
  state.spare.set_columns(y.cols);
  run.problem.space.fill_random(state.spare.view(), seed);
  apply_preconditioner<T>(run.problem, state.spare.view(), y);
}

template <class T>
void begin_anew(const LobpcgRun<T>& run, LobpcgState<T>& state, ConstBlockView<T> x) {
  state.x.set_columns(x.cols);
  run.problem.space.copy(x, state.x.v());
  orthonormalize_x(run, state, 0);
  rayleigh_ritz_of_x(run, state);
}

template <class T>
void restart_from_inverse(const LobpcgRun<T>& run, LobpcgState<T>& state) {
  BlockSpace<T>& space = run.problem.space;
  const LocalIndex columns = state.active();
  DenseBlock<T> before = space.make_block(columns);
  space.copy(state.x.v(), before.view());
  const std::vector<double> values = state.ritz.values;
  const std::vector<double> errors = errors_of_values(state);
  state.spare.set_columns(columns);
  apply_preconditioner<T>(run.problem, state.x.b(), state.spare.view());
  try {
    begin_anew<T>(run, state, state.spare.view());
    const LocalIndex lost = std::min(pairs_lost(run, state, values, errors), columns);
    if (lost == 0) return;
    // What the inverse takes off there is what was wanted: far from sigma, beyond it or before it.
    if (lost < columns)
      space.copy(state.x.v().columns(0, columns - lost), before.view().columns(lost, columns - lost));
    begin_anew<T>(run, state, before.view());
  } catch (const NumericalError&) {
    begin_anew<T>(run, state, before.view());  // values that are not finite
  }
}

template void fill_random(const LobpcgRun<float>&, LobpcgState<float>&, BlockView<float>, std::uint64_t);
template void fill_random(const LobpcgRun<double>&, LobpcgState<double>&, BlockView<double>, std::uint64_t);
template void restart_from_inverse(const LobpcgRun<float>&, LobpcgState<float>&);
template void restart_from_inverse(const LobpcgRun<double>&, LobpcgState<double>&);

}  // namespace block_eigs
