#pragma once

#include <memory>
#include <span>
#include <vector>

#include "solver/multigrid/aggregation/column_numbers.hpp"
#include "spmm/device/sparse_algebra.hpp"
#include "spmm/matrix/distributed_matrix.hpp"
#include "spmm/parallel/context.hpp"
#include "spmm/parallel/halo_plan.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs::aggregation {

/// A rank's rows of a distributed matrix in device memory, all columns in one matrix: own ones, then ghosts.
struct LocalRows {
  CsrBuffers<double> matrix;
  ColumnNumbers columns;

  CsrView<double> view() const { return matrix.view(); }
};

/// With what rows are moved between ranks. Rows at the boundary of a rank go through host memory and MPI, whatever
/// the device: they are few. All functions here that are handed it are collective, and nothing is moved, nor
/// copied, on one rank alone; what they throw is OnAllRanks.
struct RowMoving {
  Context<double> context;
  std::shared_ptr<SparseAlgebra> algebra;

  const Communicator& comm() const { return context.comm; }
};

/// A - shift I with the columns of whole nodes of `unknowns` rows, where one of them occurs.
LocalRows whole_columns(const RowMoving& by, const DistributedMatrix<double>& a, double shift, int unknowns);

/// Own rows, and the same with those of ghosts behind them, which may have more columns.
struct RowsAndGhosts {
  LocalRows own;
  LocalRows all;  ///< empty on one rank

  const LocalRows& whole() const { return all.matrix.pattern ? all : own; }
};

/// With the rows of the ghosts of `plan`.
RowsAndGhosts with_ghost_rows(const RowMoving& by, LocalRows own, const HaloPlan& plan);

/// Own rows of a matrix to which every rank has something to add: `part` has own rows as `partition` deals them,
/// then what belongs to the rows `others` of other ranks.
LocalRows assembled(const RowMoving& by, LocalRows part, const std::vector<GlobalIndex>& others,
                    const Partition& partition);

/// Rows that are dealt by `from`, as `to` deals them.
LocalRows dealt(const RowMoving& by, LocalRows rows, const Partition& from, const Partition& to);

/// The same for values in device memory, `width` of them a row.
Buffer<double> dealt_vectors(const RowMoving& by, const Buffer<double>& vectors, int width, const Partition& from,
                             const Partition& to);

/// The same rows, columns own and ghosts as `columns` deals them. Not collective.
LocalRows with_column_partition(const RowMoving& by, const LocalRows& rows, const Partition& columns);

/// A matrix without rows. Not collective.
CsrBuffers<double> no_rows(const RowMoving& by, const ColumnNumbers& columns);

/// As products take it, without ghosts that do not occur. Not collective.
CsrParts<double> parts_of(const RowMoving& by, LocalRows rows);

/// In host memory. Not collective.
CsrRows to_host(Device& device, const LocalRows& rows, GlobalIndex row_begin, GlobalIndex global_rows,
                GlobalIndex global_columns);

/// The first rows of a matrix. Not collective.
CsrView<double> top_rows(const RowMoving& by, CsrView<double> a, LocalIndex rows);

}  // namespace block_eigs::aggregation
