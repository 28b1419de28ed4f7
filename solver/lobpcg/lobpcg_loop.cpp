#include "solver/lobpcg/lobpcg_loop.hpp"

#include "solver/lobpcg/inverse_iteration.hpp"
#include "solver/lobpcg/lobpcg_checkpoint.hpp"
#include "solver/lobpcg/lobpcg_steps.hpp"
#include "solver/lobpcg/standstill.hpp"

namespace block_eigs {

namespace {

/// The worst_ratio() that rounding errors may come to; 0 where the tolerance, not they, says when a pair is done.
template <class T>
double rounding_ratio(const LobpcgRun<T>& run, const LobpcgState<T>& state) {
  for (int j = 0; j < state.wanted(run.options); ++j) {
    const RitzPair pair = state.ritz.pair(j);
    if (state.test.enough(pair) > state.test.accuracy_limit(pair)) return 0.0;
  }
  return 1.0 / run.phase.accuracy;
}

template <class T>
LoopEnd iterate(const LobpcgRun<T>& run, LobpcgState<T>& state) {
  Stagnation stagnation;
  Standstill standstill;
  for (;;) {
    lock_converged(run, state);
    if (state.locked.count() >= state.window.target) return LoopEnd::window_done;
    if (run.iterations_left() <= 0) return LoopEnd::out_of_budget;

    int fresh = 0;
    if (!state.ahead) {
      fresh = expand(run, state);  // W = M^-1 R, random columns where the window has room
      // W -= V V^T B W, V locked; B W
      if (!orthogonalize(run, state, fresh)) return LoopEnd::unsound_preconditioner;
      run.problem.a.apply(state.w.v(), state.w.a());  // A W
    }
    const int columns = state.w.cols();
    const RitzSolution c =
        rayleigh_ritz(run, state, state.active() + fresh);  // [X P W]^T [A W, B W], small eigenproblem
    if (c.values.empty()) return LoopEnd::exhausted;
    update(run, state, c, true);  // [X P] <- [X P W] C, images too; R = A X - B X Lambda

    run.budget.spend();
    refresh(run, state);
    report(run, state, columns, columns);
    save_if_due(run, state);
    if (run.phase.ends_on_stagnation && stagnation.after(worst_ratio(run, state), rounding_ratio(run, state)))
      return LoopEnd::stagnated;
    if (!standstill.after(run, state)) continue;
    if (state.locked.count() > 0 && is_held_by_locked(run, state)) return LoopEnd::held_by_locked;
    if (run.options.exact_inverse && run.problem.preconditioner != nullptr) restart_from_inverse(run, state);
  }
}

}  // namespace

template <class T>
LoopEnd lobpcg_loop(const LobpcgRun<T>& run, LobpcgState<T>& state) {
  const LoopEnd end = iterate(run, state);
  step_back(state);
  return end;
}

template LoopEnd lobpcg_loop(const LobpcgRun<float>&, LobpcgState<float>&);
template LoopEnd lobpcg_loop(const LobpcgRun<double>&, LobpcgState<double>&);

}  // namespace block_eigs
