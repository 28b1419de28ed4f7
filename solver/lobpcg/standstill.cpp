#include "solver/lobpcg/standstill.hpp"

namespace block_eigs {

template <class T>
bool is_held_by_locked(const LobpcgRun<T>& run, LobpcgState<T>& state) {
  constexpr double most = 0.7;
  BlockSpace<T>& space = run.problem.space;
  state.w.set_columns(1);
  const BlockView<T> r = state.w.v();
  space.copy(state.r.columns(0, 1), r);
  const LocalIndex locked = state.deflated.locked();
  const ConstBlockView<T> v = state.deflated.locked_v(0, locked);
  const ConstBlockView<T> bv = state.deflated.locked_b(0, locked);
  SmallMatrix along;
  space.gram({v}, {r}, along);
  SmallMatrix projection(along.rows() + 1, 1);
  for (int i = 0; i < along.rows(); ++i) projection(i, 0) = -along(i, 0);
  projection(along.rows(), 0) = 1.0;
  space.update({bv, r}, projection, {r});
  return space.column_norms(r).front() < most * state.ritz.residuals.front();
}

template bool is_held_by_locked(const LobpcgRun<float>&, LobpcgState<float>&);
template bool is_held_by_locked(const LobpcgRun<double>&, LobpcgState<double>&);

}  // namespace block_eigs
