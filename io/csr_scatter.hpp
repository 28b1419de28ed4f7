#pragma once

#include <cstdint>
#include <vector>

#include "spmm/communicator.hpp"
#include "spmm/csr_rows.hpp"
#include "spmm/partition.hpp"

namespace block_eigs {

/// One nonzero of a matrix with its global position.
struct Triplet {
  GlobalIndex row = 0;
  GlobalIndex column = 0;
  double value = 0.0;
};

/// Sends every triplet to the rank that owns its row and assembles the own rows there, sorted, duplicates
/// summed. `triplets` may hold any part of the matrix on any rank and is consumed. Collective. For readers
/// and generators that meet the nonzeros in another order than the rows.
CsrRows scatter_to_owners(const Communicator& comm, const Partition& partition, GlobalIndex global_columns,
                          std::vector<Triplet> triplets);

}  // namespace block_eigs
