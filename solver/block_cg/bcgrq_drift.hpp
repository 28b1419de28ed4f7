#pragma once

#include "solver/block_cg/bcgrq_state.hpp"
#include "solver/budget.hpp"

// Iterates that drift along null vectors of A. A right-hand side that is outside the range of A by less than its
// limit is solved as any other until its residual comes near that part. Then x grows along the null vector, the
// residual rises again, and rounding errors in A x with it, until they cover whatever is left: accuracy limits
// that x itself has brought about are none. All that is decided is decided by replicated values.
namespace block_eigs::bcgrq {

/// After an iteration: whether the recursive norm has left the least one of this round behind, as a drift makes
/// it.
void note_dip(Column& column);

/// As a round has ended with true norms and outcomes: right-hand sides whose x has drifted from a residual near
/// the limit to a much larger one begin again with the best iterate and end where the recurrence began to rise, if
/// that is a gain, or are given up. Nothing happens in float. Whether there are any of the former; true norms are
/// those of X all the same, and state.q is F - A X. Uses up state.as. Collective.
template <class T>
bool go_back_before_drift(State<T>& state, Sides<T>& sides, const Budget& budget, bool may_go_on);

}  // namespace block_eigs::bcgrq
