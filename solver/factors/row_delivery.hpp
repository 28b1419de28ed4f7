#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"
#include "spmm/types.hpp"

namespace block_eigs::factors {

/// Rows of blocks that lie on any ranks, in any order, brought to those that own them. Blocks are stored by
/// columns.
class RowDelivery {
 public:
  /// `rows` are the numbers, from 1, of those that the calling rank has; every row of the partition is on one
  /// rank. Collective; throws on all ranks.
  RowDelivery(const Communicator& comm, const Partition& partition, std::span<const int> rows);

  /// Memory for blocks of up to `columns` columns. Collective; throws on all ranks.
  void reserve(LocalIndex columns);

  /// own = the rows that the calling rank owns, in order, of a block whose rows are `found`; columns of either
  /// begin so many numbers after one another. Collective.
  void deliver(const double* found, std::ptrdiff_t found_stride, LocalIndex columns, double* own,
               std::ptrdiff_t own_stride);

 private:
  Communicator comm_;
  std::vector<std::size_t> sent_;          ///< positions in `rows`, by the rank that owns them
  std::vector<std::int64_t> sent_begins_;  ///< of each rank's part
  std::vector<std::size_t> placed_;        ///< own rows, by the rank that has them
  std::vector<std::int64_t> placed_begins_;
  std::vector<double> outgoing_;
  std::vector<double> incoming_;
};

}  // namespace block_eigs::factors
