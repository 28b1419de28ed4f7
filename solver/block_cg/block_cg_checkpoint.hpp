#pragma once

#include "solver/block_cg/block_cg.hpp"
#include "solver/budget.hpp"
#include "solver/checkpoint.hpp"

namespace block_eigs {

/// A result, finished or as far as it has come, as part of a state.
template <class T>
void save_result(const BlockCgResult<T>& result, SavedState& state);
/// And back; `result.solution` has its columns already, or none. Collective.
template <class T>
void read_result(BlockSpace<T>& space, Checkpoint& checkpoint, BlockCgResult<T>& result);

/// Of `limit` iterations, with what the saved state has spent of them and its time.
Budget resumed_budget(const Checkpoint& checkpoint, int limit);

}  // namespace block_eigs
