#pragma once

#include "solver/block_cg/bcgrq_blocks.hpp"
#include "solver/block_cg/column_scaling.hpp"

namespace block_eigs::bcgrq {

/// The result so far, to which each block of right-hand sides adds its part.
template <class T>
struct Collected {
  const Listeners& listeners;
  BlockCgResult<T> result{};
  ColumnScaling scaling{};  ///< of the right-hand sides
  std::size_t first = 0;    ///< right-hand side of the block at work
  int done = 0;             ///< right-hand sides of other blocks
  int saved = 0;            ///< iterations of the state that was saved last
};

/// Counts the right-hand sides that are done.
template <class T>
void count_done(Collected<T>& collected);

/// Adds all right-hand sides but those of the block at work to its state.
template <class T>
void save_others(Collected<T>& collected, SavedState& state);
/// At the end, where a block has used up its iterations and others came after it: writes a state without a block
/// at work, for the last one there is lacks what they came to. Collective.
template <class T>
void save_end(Collected<T>& collected, const Budget& budget);
/// Takes the result of the saved state over; whether that has a block at work. `began` becomes earlier by the time
/// that it took to get there. Collective.
template <class T>
bool resume_result(BlockSpace<T>& space, Collected<T>& collected, Budget::Clock::time_point& began);

}  // namespace block_eigs::bcgrq
