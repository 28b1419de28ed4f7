#pragma once

namespace block_eigs {

/// Whether the multigrid that was chosen came to one level, so that another preconditioner is chosen by now and
/// has to be made. Of the state of either solver with its present operators.
template <class Solver>
bool multigrid_is_passed_over(Solver& solver) {
  return solver.choice && !solver.operators->preconditioner.coarsens && solver.choice->pass_over_multigrid();
}

}  // namespace block_eigs
