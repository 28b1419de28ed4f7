#pragma once

#include <functional>

#include "solver/block_cg/bcgrq_state.hpp"
#include "solver/block_cg/block_cg.hpp"
#include "solver/budget.hpp"

namespace block_eigs::bcgrq {

/// Throws InputError on all ranks where shapes or options are wrong. Collective.
template <class T>
void check_arguments(BlockSpace<T>& space, const DenseBlock<T>& f, const DenseBlock<T>& initial,
                     const BlockCgOptions& options);

/// Solves one block of right-hand sides: leaves X, outcomes, norms and the remark in the sides, spends the budget,
/// and calls `iterated` after every iteration, recursive norms and activity of the columns being up to date.
template <class T>
using SolveBlock = std::function<void(Sides<T>&, Budget&, const Iterated&)>;

/// Takes the right-hand sides of `f`, options.block_size at a time, through `solve`. Every block has a budget of
/// options.max_iterations, all budgets the clock of `began`. Collective. Throws InputError where values are not
/// finite, and what `solve` throws.
template <class T>
BlockCgResult<T> solve_in_blocks(BlockSpace<T>& space, const DenseBlock<T>& f, DenseBlock<T> initial,
                                 const BlockCgOptions& options, const Observer& observer,
                                 Budget::Clock::time_point began, const SolveBlock<T>& solve);

}  // namespace block_eigs::bcgrq
