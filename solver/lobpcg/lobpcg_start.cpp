#include "solver/lobpcg/lobpcg_start.hpp"

#include <algorithm>

#include "solver/lobpcg/inverse_iteration.hpp"
#include "solver/lobpcg/lobpcg_steps.hpp"
#include "solver/space/orthonormalize.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

Window make_window(const LobpcgOptions& options, bool filtered) {
  const int width = block_width(options);
  constexpr double filtered_lock_share = 0.25;
  Window window{width, width - options.pairs, options.pairs, !filtered, filtered ? filtered_lock_share : 1.0};
  if (width > options.pairs) return window;
  // A window narrower than the pairs asked for still wants guards behind the last of them.
  window.guard = std::min(width - 1, default_block_size(width) - width);
  if (!filtered) return window;
  // Filtered windows follow one another; a filter tells a pair from the rest by its distance from the last guard.
  window.guard = std::clamp(width / 5, window.guard, width - 1);
  window.target = std::min(width - window.guard, options.pairs);
  window.one_of_many = true;
  return window;
}

template <class T>
void take_constraints(const LobpcgRun<T>& run, LobpcgState<T>& state, const DenseBlock<T>& constraints) {
  BlockSpace<T>& space = run.problem.space;
  const BlockView<T> c = state.deflated.storage(constraints.cols());
  const BlockView<T> bc = state.deflated.b_storage(constraints.cols());
  space.copy(constraints.view(), c);
  if (run.problem.b != nullptr) run.problem.b->apply(c, bc);
  state.deflated.set_constraints(
      orthonormalize<T>(space, {}, c, bc, {}, Orthonormality::to_rounding, run.problem.b));
}

template <class T>
int orthonormalize_x(const LobpcgRun<T>& run, LobpcgState<T>& state, LocalIndex good) {
  BlockSpace<T>& space = run.problem.space;
  const BlockView<T> x = state.x.v();
  int replaced = 0;
  for (std::uint64_t draw = 1; good < x.cols; ++draw) {
    const LocalIndex count = x.cols - good;
    const BlockView<T> fresh = x.columns(good, count);
    const BlockView<T> b_fresh = state.x.b().columns(good, count);
    if (run.problem.b != nullptr) run.problem.b->apply(fresh, b_fresh);
    good += orthonormalize<T>(space, {state.deflated.v(), x.columns(0, good)}, fresh, b_fresh,
                              {state.deflated.b(), ConstBlockView<T>(state.x.b()).columns(0, good)},
                              Orthonormality::to_rounding, run.problem.b);
    if (good == x.cols) break;
    if (draw > most_draws)
      throw NumericalError("lobpcg: no independent start vectors left outside the constraints");
    replaced = std::max(replaced, x.cols - good);
    // By then an inverse may have shown that it has no more directions to give in this precision.
    space.fill_random(x.columns(good, x.cols - good), seed_of_draw(run, state, draw));
  }
  return replaced;
}

template <class T>
void start_block(const LobpcgRun<T>& run, LobpcgState<T>& state, const LeadingColumns<T>& initial, bool iterated) {
  BlockSpace<T>& space = run.problem.space;
  const LocalIndex width = state.window.width;
  state.x.set_columns(width);
  const LocalIndex given = std::min(initial.cols, width);
  if (given > 0 && initial.are_apart()) space.copy(initial.block.columns(0, given), state.x.v().columns(0, given));
  space.clear_left_out(state.x.v().columns(0, given));
  if (iterated && given == width && state.deflated.cols() == 0 && rayleigh_ritz_of_rounded_x(run, state)) return;
  fill_random(run, state, state.x.v().columns(given, width - given), run.options.seed);
  orthonormalize_x(run, state, 0);
  rayleigh_ritz_of_x(run, state);
}

template <class T>
void take_directions(const LobpcgRun<T>& run, LobpcgState<T>& state, const LeadingColumns<T>& directions) {
  if (directions.cols == 0) return;
  const LocalIndex active = state.active();
  state.x.compact(run.problem.space, active, state.spare);
  state.p.compact(run.problem.space, active, state.spare);
  if (directions.are_apart()) {
    state.w.set_columns(directions.cols);
    run.problem.space.copy(directions.view(), state.w.v());
  } else {
    state.w.set_columns(state.window.width);
    state.w.narrow(0, directions.cols);
  }
  deflate(run.problem, state);
  if (run.problem.b != nullptr) run.problem.b->apply(state.w.v(), state.w.b());
  run.problem.a.apply(state.w.v(), state.w.a());
  const RitzSolution c = rayleigh_ritz(run, state, active);
  if (!c.values.empty()) update(run, state, c);
}

template <class T>
void next_window(const LobpcgRun<T>& run, LobpcgState<T>& state) {
  BlockSpace<T>& space = run.problem.space;
  Window& window = state.window;
  const int left = run.options.pairs - state.locked.count();
  const LocalIndex guards = state.active();
  const LocalIndex width = std::max(std::min(window.width, left + window.guard), guards);
  window.target = std::min(state.locked.count() + window.width - window.guard, run.options.pairs);
  state.p.set_columns(0);
  state.x.compact(space, width, state.spare);
  state.x.widen(width);
  fill_random(run, state, state.x.v().columns(guards, width - guards),
              run.options.seed + 1000 + static_cast<std::uint64_t>(run.budget.spent()));
  orthonormalize_x(run, state, guards);
  rayleigh_ritz_of_x(run, state);
}

template void take_constraints(const LobpcgRun<float>&, LobpcgState<float>&, const DenseBlock<float>&);
template void start_block(const LobpcgRun<float>&, LobpcgState<float>&, const LeadingColumns<float>&, bool);
template void take_directions(const LobpcgRun<float>&, LobpcgState<float>&, const LeadingColumns<float>&);
template void next_window(const LobpcgRun<float>&, LobpcgState<float>&);
template int orthonormalize_x(const LobpcgRun<float>&, LobpcgState<float>&, LocalIndex);
template void take_constraints(const LobpcgRun<double>&, LobpcgState<double>&, const DenseBlock<double>&);
template void start_block(const LobpcgRun<double>&, LobpcgState<double>&, const LeadingColumns<double>&, bool);
template void take_directions(const LobpcgRun<double>&, LobpcgState<double>&, const LeadingColumns<double>&);
template void next_window(const LobpcgRun<double>&, LobpcgState<double>&);
template int orthonormalize_x(const LobpcgRun<double>&, LobpcgState<double>&, LocalIndex);

}  // namespace block_eigs
