#include "spmm/parallel/partition.hpp"

#include <algorithm>

#include "spmm/error.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/local_numbers.hpp"

namespace block_eigs {

Partition::Partition(std::vector<GlobalIndex> offsets) : offsets_(std::move(offsets)) {
  require(offsets_.size() >= 2 && offsets_.front() == 0,
          "partition: offsets must start at 0 and name one part or more");
  for (std::size_t p = 1; p < offsets_.size(); ++p) {
    require(offsets_[p - 1] <= offsets_[p], "partition: offsets must not decrease");
    require_local_numbers(offsets_[p] - offsets_[p - 1], 0, static_cast<int>(p) - 1, parts());
  }
}

Partition Partition::uniform(GlobalIndex rows, int parts) {
  std::vector<GlobalIndex> offsets(static_cast<std::size_t>(parts) + 1);
  const GlobalIndex quotient = rows / parts;
  const GlobalIndex remainder = rows % parts;
  for (int p = 0; p <= parts; ++p) {
    offsets[static_cast<std::size_t>(p)] = quotient * p + std::min<GlobalIndex>(p, remainder);
  }
  return Partition(std::move(offsets));
}

Partition Partition::by_nonzeros(const Communicator& comm, const Partition& current,
                                 std::span<const Offset> local_row_nonzeros) {
  const auto local_rows = static_cast<GlobalIndex>(local_row_nonzeros.size());
  GlobalIndex local_work = local_rows;
  for (const Offset count : local_row_nonzeros) local_work += count;
  const std::vector<std::int64_t> work = comm.all_gather(local_work);
  GlobalIndex before = 0;
  for (int r = 0; r < comm.rank(); ++r) before += work[static_cast<std::size_t>(r)];
  GlobalIndex total = 0;
  for (const GlobalIndex w : work) total += w;

  // Part p starts at the first row before which at least p / parts of the work lies. The rank that holds that
  // row sets the offset, all others leave 0, and the sum puts them together.
  const int parts = current.parts();
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(parts) + 1, 0);
  GlobalIndex row = current.begin(comm.rank());
  GlobalIndex seen = before;
  int p = 1;
  const auto target = [&](int part) { return total / parts * part + total % parts * part / parts; };
  while (p < parts && target(p) <= before) ++p;
  for (const Offset count : local_row_nonzeros) {
    seen += count + 1;
    ++row;
    while (p < parts && target(p) <= seen && target(p) > before) offsets[static_cast<std::size_t>(p++)] = row;
  }
  comm.sum(std::span(offsets));
  offsets.back() = current.rows();
  return Partition(std::move(offsets));
}

int Partition::owner(GlobalIndex row) const {
  const auto after = std::upper_bound(offsets_.begin(), offsets_.end(), row);
  return static_cast<int>(after - offsets_.begin()) - 1;
}

}  // namespace block_eigs
