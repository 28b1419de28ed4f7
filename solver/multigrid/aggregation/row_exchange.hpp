#pragma once

#include <cstdint>
#include <vector>

#include "solver/multigrid/aggregation/row_builder.hpp"
#include "spmm/matrix/csr_rows.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/halo_plan.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs::aggregation {

// All of these are collective, and what they throw is OnAllRanks.

/// Appends what the owners of the ghosts of `plan` hold in `values`, `width` of type double or std::int64_t a row.
template <class T>
void append_ghost_values(const Communicator& comm, const HaloPlan& plan, std::size_t width,
                         std::vector<T>& values);

/// Appends the rows of the ghosts of `plan` to own ones.
void append_ghost_rows(const Communicator& comm, const HaloPlan& plan, SparseRows<GlobalIndex>& rows);

/// Own rows of a matrix to which every rank has something to add: `part` has the rows with the global numbers
/// `row_numbers`, ascending within own and within others. Entries of the same place are summed.
CsrRows assemble(const Communicator& comm, const Partition& partition, GlobalIndex global_columns,
                 SparseRows<GlobalIndex> part, const std::vector<GlobalIndex>& row_numbers);

/// Values of consecutive rows, `width` numbers a row, dealt by `from`, as `to` deals them.
std::vector<double> redistribute(const Communicator& comm, const Partition& from, const Partition& to,
                                 std::size_t width, std::vector<double> values);

}  // namespace block_eigs::aggregation
