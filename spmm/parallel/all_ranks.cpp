#include "spmm/parallel/all_ranks.hpp"

#include <cstddef>
#include <vector>

namespace block_eigs {

GlobalIndex AllRanks::sum_before(LocalIndex count) {
  const std::vector<std::int64_t> counts = comm_.all_gather(std::int64_t{count});
  GlobalIndex sum = 0;
  for (int rank = 0; rank < comm_.rank(); ++rank) sum += counts[static_cast<std::size_t>(rank)];
  return sum;
}

}  // namespace block_eigs
