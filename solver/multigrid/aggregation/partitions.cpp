#include "solver/multigrid/aggregation/partitions.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace block_eigs::aggregation {

Partition narrowed(const Partition& rows, int unknowns) {
  std::vector<GlobalIndex> offsets = rows.offsets();
  for (GlobalIndex& offset : offsets) offset /= unknowns;
  return Partition(std::move(offsets));
}

Partition dealt_by_counts(const Communicator& comm, std::int64_t count) {
  std::vector<GlobalIndex> offsets{0};
  for (const std::int64_t of_rank : comm.all_gather(count)) offsets.push_back(offsets.back() + of_rank);
  return Partition(std::move(offsets));
}

Partition concentrated(const Partition& partition, GlobalIndex rows_per_rank) {
  const auto ranks = static_cast<GlobalIndex>(partition.parts());
  const GlobalIndex groups = std::clamp<GlobalIndex>(partition.rows() / rows_per_rank, 1, ranks);
  std::vector<GlobalIndex> offsets{0};
  for (GlobalIndex r = 0; r < ranks; ++r) {
    // The rows of a group end with the last rank of it, and all lie on its first.
    GlobalIndex last = r;
    while (last + 1 < ranks && (last + 1) * groups / ranks == r * groups / ranks) ++last;
    offsets.push_back(partition.end(static_cast<int>(last)));
  }
  return Partition(std::move(offsets));
}

}  // namespace block_eigs::aggregation
