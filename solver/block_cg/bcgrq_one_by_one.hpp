#pragma once

#include <cstddef>
#include <functional>

#include "solver/block_cg/bcgrq_blocks.hpp"

namespace block_eigs::bcgrq {

/// Called after every iteration on one right-hand side: with it, its place in the block, and how many of the block
/// are done. Returns whether to go on: the same on all ranks.
template <class T>
using IteratedAlone = std::function<bool(const Sides<T>& one, std::size_t place, int done)>;

/// Of a block that rounding errors have ended, the right-hand sides that are left, one by one, each with what it
/// has left of the block's budget. Directions that some have no more use for, as where A is singular or has no
/// more eigenvectors than the block has been through, become rounding errors, and go into the residuals of the
/// others; along a null vector they grow until A seems to leave out a side that it has in its range. What the
/// block came to may hold so many of them that zero is the better start. It ends with the first that stays undone
/// for want of iterations or by rounding, or after several in a row that have no solution, so that a block of
/// these does not take a solve each; those known to have none come last. No states are saved meanwhile: the
/// block's is the last. Collective.
template <class T>
void solve_one_by_one(BlockSpace<T>& space, Sides<T>& block, const Budget& of_block, const BlockSolver<T>& solver,
                      const IteratedAlone<T>& iterated);

/// Beside factors of A, or of A and next to nothing, the right-hand sides that a block of them was left with, each
/// from zero and by itself: they take a few iterations each then, while in a block a direction that A maps to
/// nothing, which sides without a solution have brought in, grows into the others. What is better than before is
/// kept; of the rest is known whether they have no solution. Iterations are charged to `budget`, `iterated` hears
/// of all. No states are saved meanwhile. Returns whether a side is solved, by the block or alone, and every other
/// one is known to have no solution. Collective.
template <class T>
bool solve_each_from_zero(BlockSpace<T>& space, Sides<T>& block, Budget& budget, const BlockSolver<T>& solver,
                          const Iterated& iterated);

}  // namespace block_eigs::bcgrq
