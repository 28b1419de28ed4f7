#pragma once

#include "solver/lobpcg/filtered_start.hpp"
#include "solver/lobpcg/lobpcg_state.hpp"

// The state of the iteration in a checkpoint: X, P, locked vectors, and the numbers that go with them. Images
// under A and B, and R, are computed anew from the vectors, which are the bits that they were. All are collective.
namespace block_eigs {

/// Writes the state at the end of an iteration where run.checkpoint wants it, and where the iterations are used
/// up. `filters` is null behind the filters of the window at work.
template <class T>
void save_if_due(const LobpcgRun<T>& run, const LobpcgState<T>& state, const FilterProgress* filters = nullptr);

/// Where a run goes on.
struct Resumption {
  bool resumed = false;                     ///< the state is a saved one; else it is as it was
  std::optional<FilterProgress> filters{};  ///< where it was saved between the filters of a window
};

/// Takes the state over that run.checkpoint holds, if it does. `state` was made for the same options, constraints
/// included; budget and history are those of that state already: see resumed_budget.
template <class T>
Resumption resume(const LobpcgRun<T>& run, LobpcgState<T>& state);

/// The phase in double that `checkpoint`, which may be null, holds a state of; nothing where it holds none, or one
/// of a phase in float that another phase has to follow.
std::optional<LobpcgPhase> saved_phase_in_double(const Checkpoint* checkpoint);
/// Whether `checkpoint`, which may be null, holds the state of a phase in float: only a run that begins so goes on
/// from it.
bool holds_state_in_float(const Checkpoint* checkpoint);
/// The options' budget, of which the saved state has spent its part, and the history up to there.
Budget resumed_budget(const Checkpoint* checkpoint, const Budget& budget, std::vector<LobpcgIteration>& history);
/// Iterations spent when the phase of the saved state began.
int first_iteration(const Checkpoint* checkpoint, const Budget& budget);

/// History as lists of numbers, and back.
void save_history(const std::vector<LobpcgIteration>& history, const std::string& name, SavedNumbers& numbers);
std::vector<LobpcgIteration> saved_history(const SavedNumbers& numbers, const std::string& name);

}  // namespace block_eigs
