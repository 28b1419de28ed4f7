#pragma once

#include <vector>

#include "solver/multigrid/aggregation/column_numbers.hpp"
#include "solver/multigrid/aggregation/row_builder.hpp"
#include "spmm/matrix/csr_rows.hpp"

namespace block_eigs::aggregation {

/// Rows of a tentative interpolation, own ones, then those of ghosts.
struct TentativeRows {
  std::size_t modes = 1;
  std::vector<double> values;              ///< row-major [rows][modes]
  std::vector<GlobalIndex> first_columns;  ///< of the aggregate that a row belongs to, -1 for none
};

/// P = (I - omega D^-1 A) T: interpolation smoothed by a step of damped Jacobi, D as damped_diagonal() has it, own
/// rows, columns ascending. Rows of hubs stay as in T: smoothed they would couple all aggregates that a hub sees
/// with each other. `is_hub` tells of them node by node. Not collective.
SparseRows<GlobalIndex> smoothed_interpolation(const CsrRows& a, const ColumnNumbers& numbers,
                                               const TentativeRows& tentative, double omega,
                                               const std::vector<char>& is_hub);

}  // namespace block_eigs::aggregation
