#pragma once

#include <algorithm>

#include "solver/lobpcg/lobpcg_state.hpp"

namespace block_eigs {

/// Notices when the first pair at work comes no further towards what it is locked at. Replicated.
class Standstill {
 public:
  /// After one more iteration: whether several together have brought nothing. Where residuals are measured without
  /// what lies along locked vectors, and in phases that nobody verifies, it is not looked for.
  template <class T>
  bool after(const LobpcgRun<T>& run, const LobpcgState<T>& state) {
    if (!run.phase.verified || state.window.one_of_many || state.active() == 0) return false;
    if (locked_ != state.locked.count()) stagnation_ = Stagnation(patience);
    locked_ = state.locked.count();
    const double limit = limit_of_locking(run, state);
    const double residual = state.ritz.residuals.front();
    if (residual <= limit || !stagnation_.after(residual / limit)) return false;
    stagnation_ = Stagnation(patience);
    return true;
  }

 private:
  /// See lock_converged: no more than all others that are wanted have to come to.
  template <class T>
  static double limit_of_locking(const LobpcgRun<T>& run, const LobpcgState<T>& state) {
    double least = state.ritz.enough(state.test, 0);
    for (int j = 1; j < state.wanted(run.options); ++j) least = std::min(least, state.ritz.enough(state.test, j));
    return least;
  }

  static constexpr int patience = 5;
  int locked_ = 0;
  Stagnation stagnation_{patience};
};

/// Whether the residual of the first pair at work lies along locked vectors for the most part: what is left of
/// theirs adds up, and no step takes it off. Uses the storage of W. Collective.
template <class T>
bool is_held_by_locked(const LobpcgRun<T>& run, LobpcgState<T>& state);

}  // namespace block_eigs
