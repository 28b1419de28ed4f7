#pragma once

#include "solver/lobpcg/lobpcg_state.hpp"

namespace block_eigs {

/// Notices when the first pair at work comes no further. Replicated.
class Standstill {
 public:
  /// After one more iteration: whether several together have brought nothing. Where residuals are measured without
  /// what lies along locked vectors, and in phases that nobody verifies, it is not looked for.
  template <class T>
  bool after(const LobpcgRun<T>& run, const LobpcgState<T>& state) {
    if (!run.phase.verified || state.window.one_of_many || state.active() == 0) return false;
    if (locked_ != state.locked.count()) stagnation_ = Stagnation(patience);
    locked_ = state.locked.count();
    const double ratio = state.ritz.ratio(state.test, 0);
    if (locked_ == 0 || ratio <= 1.0 || !stagnation_.after(ratio)) return false;
    stagnation_ = Stagnation(patience);
    return true;
  }

 private:
  static constexpr int patience = 5;
  int locked_ = 0;
  Stagnation stagnation_{patience};
};

/// Whether the residual of the first pair at work lies along locked vectors for the most part: what is left of
/// theirs adds up, and no step takes it off. Uses the storage of W. Collective.
template <class T>
bool is_held_by_locked(const LobpcgRun<T>& run, LobpcgState<T>& state);

}  // namespace block_eigs
