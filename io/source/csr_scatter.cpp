#include "io/source/csr_scatter.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

namespace block_eigs {

namespace {

static_assert(sizeof(Triplet) == 3 * sizeof(double), "triplets travel as they lie in memory");

/// Triplets that one rank sends in one exchange: what bounds the memory beside the matrix. All ranks may send to
/// the same one, whose counts and displacements must still fit MPI's int.
std::size_t exchange_limit(int ranks) {
  return std::min(std::size_t{1} << 22, static_cast<std::size_t>(std::numeric_limits<int>::max() / ranks));
}

/// Owner of a row, quick where the next row has the same owner as the last one.
class OwnerFinder {
 public:
  explicit OwnerFinder(const Partition& partition) : partition_(partition) {}
  std::size_t operator()(GlobalIndex row) {
    if (row < begin_ || row >= end_) {
      owner_ = partition_.owner(row);
      begin_ = partition_.begin(owner_);
      end_ = partition_.end(owner_);
    }
    return static_cast<std::size_t>(owner_);
  }

 private:
  const Partition& partition_;
  int owner_ = 0;
  GlobalIndex begin_ = 0;
  GlobalIndex end_ = 0;
};

std::vector<int> displacements(const std::vector<int>& counts) {
  std::vector<int> first(counts.size() + 1, 0);
  for (std::size_t r = 0; r < counts.size(); ++r) first[r + 1] = first[r] + counts[r];
  return first;
}

}  // namespace

RowCollector::RowCollector(const Communicator& comm, const Partition& partition, GlobalIndex global_columns)
    : comm_(comm),
      partition_(partition),
      global_columns_(global_columns),
      row_counts_(static_cast<std::size_t>(partition.size(comm.rank())), 0) {}

void RowCollector::add(std::vector<Triplet>& chunk) {
  if (comm_.size() == 1) {
    comm_.collectively([&] { received_.emplace_back(); });
    received_.back() = std::exchange(chunk, {});
    count_last();
    return;
  }
  const std::size_t limit = exchange_limit(comm_.size());
  const auto rounds = comm_.max(static_cast<std::int64_t>((chunk.size() + limit - 1) / limit));
  for (std::int64_t round = 0; round < rounds; ++round) {
    const std::size_t first = std::min(chunk.size(), static_cast<std::size_t>(round) * limit);
    exchange(chunk.data() + first, std::min(limit, chunk.size() - first));
  }
  chunk.clear();
}

/// Memory is taken before messages are under way: a rank that has not enough stops all of them.
void RowCollector::exchange(const Triplet* first, std::size_t count) {
  const auto ranks = static_cast<std::size_t>(comm_.size());
  OwnerFinder owner(partition_);
  std::vector<int> send_counts;
  std::vector<int> receive_counts;
  std::vector<int> send_first;
  std::vector<int> receive_first;
  std::vector<Triplet> outgoing;
  comm_.collectively([&] {
    receive_counts.assign(ranks, 0);
    send_counts.assign(ranks, 0);
    for (std::size_t k = 0; k < count; ++k) ++send_counts[owner(first[k].row)];
    send_first = displacements(send_counts);
    outgoing.resize(count);
    std::vector<int> next(send_first.begin(), send_first.end() - 1);
    for (std::size_t k = 0; k < count; ++k) {
      outgoing[static_cast<std::size_t>(next[owner(first[k].row)]++)] = first[k];
    }
  });

  MPI_Alltoall(send_counts.data(), 1, MPI_INT, receive_counts.data(), 1, MPI_INT, comm_.handle());
  comm_.collectively([&] {
    receive_first = displacements(receive_counts);
    received_.emplace_back(static_cast<std::size_t>(receive_first.back()));
  });
  std::vector<Triplet>& incoming = received_.back();
  MPI_Datatype triplet = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(sizeof(Triplet), MPI_BYTE, &triplet);
  MPI_Type_commit(&triplet);
  MPI_Alltoallv(outgoing.data(), send_counts.data(), send_first.data(), triplet, incoming.data(),
                receive_counts.data(), receive_first.data(), triplet, comm_.handle());
  MPI_Type_free(&triplet);
  count_last();
}

void RowCollector::count_last() {
  const GlobalIndex row_begin = partition_.begin(comm_.rank());
  for (const Triplet& t : received_.back()) ++row_counts_[static_cast<std::size_t>(t.row - row_begin)];
  if (received_.back().empty()) received_.pop_back();
}

CsrRows RowCollector::finish() {
  CsrRows rows;
  rows.row_begin = partition_.begin(comm_.rank());
  rows.global_rows = partition_.rows();
  rows.global_columns = global_columns_;
  rows.row_offsets.assign(row_counts_.size() + 1, 0);
  for (std::size_t i = 0; i < row_counts_.size(); ++i)
    rows.row_offsets[i + 1] = rows.row_offsets[i] + row_counts_[i];
  rows.columns.resize(static_cast<std::size_t>(rows.nonzeros()));
  rows.values.resize(rows.columns.size());
  std::vector<Offset>& next = row_counts_;
  std::copy(rows.row_offsets.begin(), rows.row_offsets.end() - 1, next.begin());
  for (std::vector<Triplet>& chunk : received_) {
    for (const Triplet& t : chunk) {
      const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(t.row - rows.row_begin)]++);
      rows.columns[at] = t.column;
      rows.values[at] = t.value;
    }
    chunk = {};
  }
  received_.clear();
  sort_rows(rows);
  return rows;
}

CsrRows scatter_to_owners(const Communicator& comm, const Partition& partition, GlobalIndex global_columns,
                          std::vector<Triplet> triplets) {
  std::optional<RowCollector> collector;
  comm.collectively([&] { collector.emplace(comm, partition, global_columns); });
  collector->add(triplets);
  triplets = {};
  CsrRows rows;
  comm.collectively([&] { rows = collector->finish(); });
  return rows;
}

}  // namespace block_eigs
