#pragma once

#include <span>
#include <vector>

#include "spmm/types.hpp"

namespace block_eigs {

class Communicator;

/// Contiguous blocks of rows, one a rank, the same on all ranks. A block may be empty.
class Partition {
 public:
  Partition() = default;
  /// `offsets` has parts + 1 non-decreasing entries, the first 0; part p owns [offsets[p], offsets[p+1]).
  explicit Partition(std::vector<GlobalIndex> offsets);

  /// Parts whose sizes differ by at most one row.
  static Partition uniform(GlobalIndex rows, int parts);

  /// Blocks of rows with about equal work, where a row costs its nonzeros plus one. `local_row_nonzeros`
  /// holds the counts of the rows that `current` gives to the calling rank. Collective.
  static Partition by_nonzeros(const Communicator& comm, const Partition& current,
                               std::span<const Offset> local_row_nonzeros);

  GlobalIndex rows() const { return offsets_.back(); }
  int parts() const { return static_cast<int>(offsets_.size()) - 1; }
  GlobalIndex begin(int part) const { return offsets_[static_cast<std::size_t>(part)]; }
  GlobalIndex end(int part) const { return offsets_[static_cast<std::size_t>(part) + 1]; }
  LocalIndex size(int part) const { return static_cast<LocalIndex>(end(part) - begin(part)); }
  const std::vector<GlobalIndex>& offsets() const { return offsets_; }

  /// The part that owns `row`, 0 <= row < rows(). Empty parts own nothing.
  int owner(GlobalIndex row) const;

  bool operator==(const Partition&) const = default;

 private:
  std::vector<GlobalIndex> offsets_{0};
};

}  // namespace block_eigs
