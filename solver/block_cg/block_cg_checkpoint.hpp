#pragma once

#include "solver/block_cg/block_cg.hpp"
#include "solver/checkpoint.hpp"

namespace block_eigs {

/// A result, finished or as far as it has come, as part of a state.
template <class T>
void save_result(const BlockCgResult<T>& result, SavedState& state);
/// And back; `result.solution` has its columns already, or none. Collective.
template <class T>
void read_result(BlockSpace<T>& space, Checkpoint& checkpoint, BlockCgResult<T>& result);

/// Findings as numbers, and back. Throws InputError on all ranks where there are none of that name.
std::vector<double> numbers_of(const BlockCgFindings& findings);
BlockCgFindings saved_findings(const SavedNumbers& numbers, const std::string& name);

}  // namespace block_eigs
