#pragma once

#include <vector>

#include "solver/space/block_space.hpp"
#include "spmm/matrix/linear_operator.hpp"
#include "spmm/parallel/partition.hpp"
#include "spmm/small_matrix.hpp"

// Between what is distributed by rows and dense matrices on rank 0. All are collective.
namespace block_eigs {

/// The rows of a space without those that are left out, as a dense matrix numbers them.
struct DenseRows {
  std::vector<LocalIndex> own;  ///< of the calling rank, ascending
  Partition numbers;
};

template <class T>
DenseRows dense_rows(BlockSpace<T>& space);

/// The first `cols` columns of these rows of a distributed block on rank 0, in the columns of `target` from
/// `first` on.
template <class T>
void gather_columns(BlockSpace<T>& space, const DenseRows& rows, const DenseBlock<T>& block, LocalIndex cols,
                    SmallMatrix& target, int first);

/// The opposite way; zeros elsewhere.
template <class T>
void scatter_columns(BlockSpace<T>& space, const DenseRows& rows, const SmallMatrix& source, DenseBlock<T>& block);

/// The symmetric operator as a dense matrix on rank 0: from its entries where it is a matrix, else from its
/// products with the columns of the identity.
template <class T>
SmallMatrix assemble_dense(BlockSpace<T>& space, const DenseRows& rows, LinearOperator<T>& op);

}  // namespace block_eigs
