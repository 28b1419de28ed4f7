#pragma once

#include "solver/block_cg/bcgrq_state.hpp"
#include "solver/budget.hpp"

namespace block_eigs::bcgrq {

/// Solves A X = F for `sides`, at most state.width of them: rounds of BCGrQ, with the true residuals after each.
/// Leaves X, outcomes, norms and the remark in `sides`. Spends `budget`, which may have been spent in part before,
/// and calls `iterated` after every iteration. Collective. Throws NumericalError on all ranks when the
/// preconditioner is not positive definite.
template <class T>
void solve(State<T>& state, Sides<T>& sides, Budget& budget, const Iterated& iterated);

}  // namespace block_eigs::bcgrq
