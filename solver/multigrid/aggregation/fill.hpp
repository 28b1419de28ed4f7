#pragma once

#include "solver/multigrid/aggregation/column_numbers.hpp"
#include "solver/multigrid/aggregation/row_builder.hpp"
#include "spmm/matrix/csr_rows.hpp"

namespace block_eigs::aggregation {

/// Consecutive rows of A, and consecutive columns of P, that have the same pattern: one of each is looked at.
struct BlockSize {
  LocalIndex rows = 1;
  std::size_t columns = 1;
};

/// Entries of this rank's part of P^T A P: in rows that belong to it, and in rows of other ranks.
struct Fill {
  double own = 0.0;
  double others = 0.0;
};

/// About what galerkin_part would make of the same arguments: from samples of 8 to 64 block rows, whose columns
/// are counted. Not collective.
Fill estimated_fill(const CsrRows& a, const ColumnNumbers& fine, const SparseRows<LocalIndex>& p,
                    const ColumnNumbers& coarse, const BlockSize& block);

}  // namespace block_eigs::aggregation
