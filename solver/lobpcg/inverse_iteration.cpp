#include "solver/lobpcg/inverse_iteration.hpp"

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
  state.spare.set_columns(columns);
  apply_preconditioner<T>(run.problem, state.x.b(), state.spare.view());
  try {
    begin_anew<T>(run, state, state.spare.view());
  } catch (const NumericalError&) {
    begin_anew<T>(run, state, before.view());  // values that are not finite
  }
}

template void fill_random(const LobpcgRun<float>&, LobpcgState<float>&, BlockView<float>, std::uint64_t);
template void fill_random(const LobpcgRun<double>&, LobpcgState<double>&, BlockView<double>, std::uint64_t);
template void restart_from_inverse(const LobpcgRun<float>&, LobpcgState<float>&);
template void restart_from_inverse(const LobpcgRun<double>&, LobpcgState<double>&);

}  // namespace block_eigs
