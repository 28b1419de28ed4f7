#pragma once

#include "solver/block_cg/bcgrq_state.hpp"

// The iterates with the smallest true residuals, of which the result is the last resort. All are collective where
// they take memory, and throw RunError on all ranks (memory).
namespace block_eigs::bcgrq {

/// As a solve begins with X, true norms being known: the best so far where nothing was tried before, else one more
/// that may be.
template <class T>
void note_start(BlockSpace<T>& space, Sides<T>& sides);
/// Takes note of the iterates that are no worse than the best so far.
template <class T>
void note_best(BlockSpace<T>& space, Sides<T>& sides);
/// Puts the best iterates back where the present ones are worse and their right-hand sides are not done, as their
/// outcomes say. Returns whether there were any; true norms are no longer those of X then.
template <class T>
bool restore_best(BlockSpace<T>& space, Sides<T>& sides);
/// The same where outcomes say that rounding errors are all that is left, and the best iterates, an initial guess
/// above all, left far less of them: within rounding errors in A x, too, so that outcomes stay.
template <class T>
bool restore_settled(BlockSpace<T>& space, Sides<T>& sides);

}  // namespace block_eigs::bcgrq
