#pragma once

namespace block_eigs::cuda {

template <class T>
struct SpmmCall;

/// Queues C = A B or C += A B with whole rows of A for groups of lanes. `wide`: B and C allow 16-byte accesses.
template <class T>
void multiply_row_split(const SpmmCall<T>& call, bool wide);

/// Queues the same with equal numbers of nonzeros for groups of lanes or warps.
template <class T>
void multiply_merge(const SpmmCall<T>& call, bool wide);

}  // namespace block_eigs::cuda
