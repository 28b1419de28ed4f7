#pragma once

#include "solver/block_cg/bcgrq_state.hpp"
#include "solver/budget.hpp"
#include "solver/checkpoint.hpp"

// The state of block CG in a checkpoint: X, Q', S, the small matrices of the recurrence, and the numbers of the
// right-hand sides at work. A S and Z' are computed anew in the next iteration anyway.
namespace block_eigs::bcgrq {

/// A block of right-hand sides and a checkpoint, which may be null.
struct Saving {
  Checkpoint* checkpoint = nullptr;
  /// Adds what is known beside the block at work.
  std::function<void(SavedState&)> add_others{};
  /// The block at work is that of the state that the checkpoint holds, which nobody has taken yet.
  bool resumes = false;
};

/// Where a round goes on.
struct RoundPlace {
  bool first_round = true;
  int iteration = 0;  ///< of the round
};

/// Writes the state at the end of an iteration where the checkpoint wants it, and where the iterations are used
/// up. Collective.
template <class T>
void save_if_due(State<T>& state, const Sides<T>& sides, const Budget& budget, const RoundPlace& place);
/// The same between rounds: X alone, from which a round begins.
template <class T>
void save_between_rounds(const Sides<T>& sides, const Budget& budget);

/// Takes the state over that was saved within a round, if there is one for these sides. Collective.
template <class T>
std::optional<RoundPlace> resume(State<T>& state, Sides<T>& sides);
/// Takes X over where that was saved between rounds. Collective.
template <class T>
void resume_between_rounds(BlockSpace<T>& space, Sides<T>& sides);
/// Whether these sides go on within a round.
template <class T>
bool resumes_within_round(const Sides<T>& sides);

}  // namespace block_eigs::bcgrq
