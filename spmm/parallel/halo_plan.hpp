#pragma once

#include <span>
#include <vector>

#include "spmm/parallel/partition.hpp"
#include "spmm/types.hpp"

namespace block_eigs {

class Communicator;

/// Who sends which rows of a distributed block to whom, so that every rank gets the rows (ghosts) that its
/// part of a sparse matrix refers to but another rank owns. Neighbours only; nothing is stored per rank.
class HaloPlan {
 public:
  /// Rows of one neighbour: `count` rows from `first` on, in the order of rows_to_send() or of the ghosts.
  struct Neighbour {
    int rank = 0;
    LocalIndex first = 0;
    LocalIndex count = 0;
  };

  HaloPlan() = default;
  /// `ghosts`: global row numbers, ascending, none of them own. Collective.
  HaloPlan(const Communicator& comm, const Partition& partition, std::span<const GlobalIndex> ghosts);

  /// Own rows (local numbers) in the order in which they are packed, neighbour by neighbour.
  const std::vector<LocalIndex>& rows_to_send() const { return rows_to_send_; }
  const std::vector<Neighbour>& destinations() const { return destinations_; }
  const std::vector<Neighbour>& sources() const { return sources_; }
  LocalIndex ghosts() const { return ghosts_; }

 private:
  std::vector<LocalIndex> rows_to_send_;
  std::vector<Neighbour> destinations_;
  std::vector<Neighbour> sources_;
  LocalIndex ghosts_ = 0;
};

}  // namespace block_eigs
