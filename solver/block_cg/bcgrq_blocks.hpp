#pragma once

#include <functional>

#include "solver/block_cg/bcgrq_state.hpp"
#include "solver/block_cg/block_cg.hpp"
#include "solver/budget.hpp"
#include "solver/checkpoint.hpp"

namespace block_eigs::bcgrq {

/// Throws InputError on all ranks where shapes or options are wrong. Collective.
template <class T>
void check_arguments(BlockSpace<T>& space, const DenseBlock<T>& f, const DenseBlock<T>& initial,
                     const BlockCgOptions& options);

/// What is done to one block of right-hand sides.
template <class T>
struct BlockSolver {
  /// Leaves X, outcomes, norms, findings and the remark in the sides, spends the budget, and calls `iterated`
  /// after every iteration, recursive norms and activity of the columns being up to date.
  std::function<void(Sides<T>&, Budget&, const Iterated&)> solve;
  /// Norms and outcomes for an X that has changed since.
  std::function<void(Sides<T>&)> measure;
  /// A is called singular where ways that differ agree on it, not after one.
  bool confirms_singularity = false;
};

/// Who hears of every iteration, and who is asked whether to go on; either may be empty.
struct Listeners {
  const Observer& observer;
  const Proceed& proceed;
  Checkpoint* checkpoint = nullptr;  ///< where states go to and come from; null for nowhere
};

/// Takes the right-hand sides of `f`, options.block_size at a time, through `solver`, scaled by powers of two
/// where their squares would leave the range of T. Every block has a budget of options.max_iterations, all budgets
/// the clock of `began`. Once listeners.proceed says no, nothing more is spent. Collective. Throws InputError
/// where values are not finite, and what `solver` throws.
template <class T>
BlockCgResult<T> solve_in_blocks(BlockSpace<T>& space, const DenseBlock<T>& f, DenseBlock<T> initial,
                                 const BlockCgOptions& options, const Listeners& listeners,
                                 Budget::Clock::time_point began, const BlockSolver<T>& solver);

}  // namespace block_eigs::bcgrq
