#pragma once

#include "solver/lobpcg/lobpcg.hpp"

namespace block_eigs {

/// The same answer as lobpcg from LAPACK: A (and B) are gathered on rank 0, by products with the columns of the
/// identity where they are no matrices, and solved there (dsyevr, after dsygst with B). Constraints are projected
/// out by a basis of their orthogonal complement. For problems whose order is at most a few thousand. Collective.
template <class T>
EigenResult<T> dense_eigensolve(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* b,
                                const DenseBlock<T>* constraints, const LobpcgOptions& options);

/// What iterations have left undone of a problem of at most options.dense_up_to rows, by dense_eigensolve:
/// `result` with its pairs in place where more of them are done. Where there is no memory for that, `result`
/// stays. Collective.
template <class T>
void finish_densely(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* b,
                    const DenseBlock<T>* constraints, const LobpcgOptions& options, EigenResult<T>& result);

}  // namespace block_eigs
