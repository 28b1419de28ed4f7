#pragma once

#include "solver/lobpcg/lobpcg_state.hpp"

namespace block_eigs {

/// Why the iteration has stopped.
enum class LoopEnd {
  window_done,  ///< as many pairs are locked as the window is for
  out_of_budget,
  exhausted,               ///< nothing new is left in the preconditioned residuals
  unsound_preconditioner,  ///< not positive definite
  stagnated,               ///< of phases that end then
  held_by_locked           ///< what is left of a residual lies along locked vectors
};

/// LOBPCG from the Ritz vectors X and directions P at hand until the window is done. Collective.
template <class T>
LoopEnd lobpcg_loop(const LobpcgRun<T>& run, LobpcgState<T>& state);

}  // namespace block_eigs
