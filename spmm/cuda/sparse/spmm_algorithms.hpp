#pragma once

namespace block_eigs::cuda {

template <class T, class Operands>
struct SpmmCall;

/// Queues C = A B, with the step that the operands bring, with whole rows of A for groups of lanes. `wide`: B, C
/// and R allow 16-byte accesses.
template <class T, class Operands>
void multiply_row_split(const SpmmCall<T, Operands>& call, bool wide);

/// Row-split by the plan's strips; B, C and R allow 16-byte accesses.
template <class T, class Operands>
void multiply_strips(const SpmmCall<T, Operands>& call);

/// Queues the same with equal numbers of nonzeros for groups of lanes or warps.
template <class T, class Operands>
void multiply_merge(const SpmmCall<T, Operands>& call, bool wide);

}  // namespace block_eigs::cuda
