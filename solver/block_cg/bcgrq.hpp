#pragma once

#include "solver/block_cg/bcgrq_state.hpp"
#include "solver/budget.hpp"

namespace block_eigs::bcgrq {

/// Solves A X = F for `sides`, at most state.width of them: rounds of BCGrQ, with the true residuals after each.
/// Leaves X, outcomes, norms, findings and the remark in `sides`. Spends `budget`, which may have been spent in
/// part before, and calls `iterated` after every iteration. Collective. Throws what the operators throw, and
/// RunError (memory); numbers are never a reason.
template <class T>
void solve(State<T>& state, Sides<T>& sides, Budget& budget, const Iterated& iterated);

/// True norms and outcomes of what X is now. Collective.
template <class T>
void judge_anew(State<T>& state, Sides<T>& sides);

}  // namespace block_eigs::bcgrq
