#pragma once

#include <cstddef>
#include <vector>

#include "spmm/matrix/csr_rows.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {

/// One nonzero of a matrix with its global position.
struct Triplet {
  GlobalIndex row = 0;
  GlobalIndex column = 0;
  double value = 0.0;
};

/// Puts together the calling rank's rows of a matrix whose nonzeros turn up on any rank, chunk by chunk: a rank
/// holds its own part and one chunk, never the whole matrix.
class RowCollector {
 public:
  /// That an own row takes, whatever its nonzeros: a count and a place.
  static constexpr double bytes_a_row = 16.0;

  RowCollector(const Communicator& comm, const Partition& partition, GlobalIndex global_columns);

  /// Sends every triplet of `chunk`, which may be empty and is left so, to the rank that owns its row. Rows must
  /// lie within the partition. Collective; throws RunError on all ranks where one has not the memory.
  void add(std::vector<Triplet>& chunk);
  /// The own rows, sorted, duplicates summed. Call it once, last. Not collective.
  CsrRows finish();

 private:
  void exchange(const Triplet* first, std::size_t count);
  void count_last();

  Communicator comm_;
  Partition partition_;
  GlobalIndex global_columns_ = 0;
  std::vector<Offset> row_counts_;
  std::vector<std::vector<Triplet>> received_;
};

/// Sends every triplet to the rank that owns its row and assembles the own rows there, sorted, duplicates
/// summed. `triplets` may hold any part of the matrix on any rank and is consumed. Collective; throws RunError on
/// all ranks where one has not the memory. For readers and generators that meet the nonzeros in another order than
/// the rows.
CsrRows scatter_to_owners(const Communicator& comm, const Partition& partition, GlobalIndex global_columns,
                          std::vector<Triplet> triplets);

}  // namespace block_eigs
