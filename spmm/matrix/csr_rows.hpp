#pragma once

#include <vector>

#include "spmm/types.hpp"

namespace block_eigs {

/// Consecutive rows of a sparse matrix in host memory with global column numbers: what readers and
/// generators make and DistributedMatrix consumes. Row `row_begin + i` has the nonzeros row_offsets[i] ..
/// row_offsets[i + 1] - 1. Columns ascend within a row and do not repeat once `sort_rows` has run.
struct CsrRows {
  GlobalIndex row_begin = 0;
  GlobalIndex global_rows = 0;
  GlobalIndex global_columns = 0;
  std::vector<Offset> row_offsets{0};
  std::vector<GlobalIndex> columns;
  std::vector<double> values;

  LocalIndex rows() const { return static_cast<LocalIndex>(row_offsets.size()) - 1; }
  Offset nonzeros() const { return row_offsets.back(); }
};

/// sum_j |a_ij| of the rows. Not collective.
std::vector<double> absolute_sums(const CsrRows& rows);

/// By all threads. Not collective; throws std::bad_alloc.
CsrRows copy_of(const CsrRows& rows);

/// Sorts the columns of every row and sums duplicates, in place. True where nothing was to be done.
bool sort_rows(CsrRows& rows);

}  // namespace block_eigs
