#pragma once

#include "solver/multigrid/aggregation/column_numbers.hpp"
#include "solver/multigrid/aggregation/row_builder.hpp"
#include "spmm/matrix/csr_rows.hpp"

namespace block_eigs::aggregation {

/// P^T A P as far as the calling rank's rows of A contribute, and its part of P^T: rows in the order of
/// `coarse`, columns global.
struct GalerkinPart {
  SparseRows<GlobalIndex> matrix;
  SparseRows<GlobalIndex> restriction;
};

/// `p` has the rows of `fine`, ghosts behind own ones, and columns that `coarse` numbers. Not collective.
GalerkinPart galerkin_part(const CsrRows& a, const ColumnNumbers& fine, const SparseRows<LocalIndex>& p,
                           const ColumnNumbers& coarse);

}  // namespace block_eigs::aggregation
