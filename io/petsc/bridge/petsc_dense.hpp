#pragma once

#include <cstddef>
#include <vector>

#include "io/petsc/bridge/petsc_matrix.hpp"
#include "spmm/matrix/column_copies.hpp"
#include "spmm/parallel/context.hpp"
#include "spmm/types.hpp"

namespace block_eigs::petsc {

/// Two blocks of PETSc's, dense matrices by columns on the host in double, which blocks of ours, by rows and maybe
/// on a GPU, are handed over to and fetched from.
template <class T>
class DenseBlocks {
 public:
  /// Of `rows` rows of the calling rank.
  DenseBlocks(const Context<T>& context, LocalIndex rows)
      : comm_(context.comm), copies_(context.device), rows_(rows) {}

  /// Memory for up to `columns` columns. Collective; throws RunError on all ranks.
  void reserve(LocalIndex columns);

  /// `x`, any number of columns, becomes given(); taken() has as many then. Collective; throws RunError where
  /// PETSc fails.
  void give(ConstBlockView<T> x);
  _p_Mat* given() const { return given_.get(); }
  _p_Mat* taken() const { return taken_.get(); }
  /// y = taken(). Throws RunError where PETSc fails.
  void take(BlockView<T> y);

 private:
  void make(LocalIndex columns);

  Communicator comm_;
  ColumnCopies<T> copies_;
  LocalIndex rows_;
  LocalIndex reserved_ = 0;  ///< columns that there is memory for, the same on all ranks
  LocalIndex columns_ = -1;  ///< of the matrices
  std::vector<double> given_values_;
  std::vector<double> taken_values_;
  OwnedMat given_;
  OwnedMat taken_;
};

}  // namespace block_eigs::petsc
