#pragma once

#include <string>
#include <vector>

#include "io/source/array_source.hpp"
#include "spmm/matrix/csr_rows.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {

/// Column numbers and values of a matrix that is compressed by rows, or row numbers and values of one compressed
/// by columns, counted from 0.
struct CompressedEntries {
  ArraySource& indices;
  ArraySource& values;
};

/// Positions at which the calling rank's rows (or columns) begin and end in the entries: own + 1 numbers out of
/// `pointers`, which has partition.rows() + 1. Checked: first 0, last `nonzeros`, never decreasing. Collective;
/// throws InputError on all ranks.
std::vector<Offset> read_pointers(const Communicator& comm, const Partition& partition, ArraySource& pointers,
                                  Offset nonzeros);

/// The own rows of a matrix compressed by rows, each rank reading its own part; `positions` as read_pointers gives
/// them. Sorted, duplicates summed, indices and values checked. Collective; throws InputError on all ranks.
CsrRows read_by_rows(const Communicator& comm, const Partition& partition, GlobalIndex columns,
                     std::vector<Offset> positions, CompressedEntries entries);

/// As read_by_rows, for a matrix compressed by columns, whose columns are partitioned by `column_partition` for
/// reading: the entries are sent to the owners of their rows.
CsrRows read_by_columns(const Communicator& comm, const Partition& partition, const Partition& column_partition,
                        const std::vector<Offset>& positions, CompressedEntries entries);

/// The own rows of a matrix stored as a list of (row, column, value), counted from 0. Collective; throws
/// InputError on all ranks.
CsrRows read_coordinates(const Communicator& comm, const Partition& partition, GlobalIndex columns,
                         ArraySource& row_indices, CompressedEntries entries);

}  // namespace block_eigs
