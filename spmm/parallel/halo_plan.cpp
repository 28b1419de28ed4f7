#include "spmm/parallel/halo_plan.hpp"

#include <cstdint>

#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

HaloPlan::HaloPlan(const Communicator& comm, const Partition& partition, std::span<const GlobalIndex> ghosts)
    : ghosts_(static_cast<LocalIndex>(ghosts.size())) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<std::vector<std::int64_t>> wanted(ranks);
  for (std::size_t g = 0; g < ghosts.size();) {
    const int owner = partition.owner(ghosts[g]);
    auto& list = wanted[static_cast<std::size_t>(owner)];
    const auto first = static_cast<LocalIndex>(g);
    for (; g < ghosts.size() && ghosts[g] < partition.end(owner); ++g) list.push_back(ghosts[g]);
    sources_.push_back({owner, first, static_cast<LocalIndex>(g) - first});
  }
  const auto asked = comm.all_to_all(wanted);
  for (std::size_t r = 0; r < ranks; ++r) {
    if (asked[r].empty()) continue;
    destinations_.push_back({static_cast<int>(r), static_cast<LocalIndex>(rows_to_send_.size()),
                             static_cast<LocalIndex>(asked[r].size())});
    for (const GlobalIndex row : asked[r]) {
      rows_to_send_.push_back(static_cast<LocalIndex>(row - partition.begin(comm.rank())));
    }
  }
}

}  // namespace block_eigs
