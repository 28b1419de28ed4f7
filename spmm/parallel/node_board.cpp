#include "spmm/parallel/node_board.hpp"

#include <atomic>
#include <cassert>
#include <cstring>
#include <utility>

#include "spmm/device/await_flag.hpp"

namespace block_eigs {

namespace {

/// More than what processors fetch at once, so that counters do not travel together.
constexpr std::size_t line = 128;

}  // namespace

std::shared_ptr<NodeBoard> NodeBoard::make(MPI_Comm comm) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const std::size_t bytes = static_cast<std::size_t>(ranks) * (line + 2 * capacity);
  SharedMemory memory;
  if (rank == 0) memory = SharedMemory::make(bytes);
  SharedPlace place = memory.place();  // or none, which the others wait to be told
  MPI_Bcast(&place, sizeof(place), MPI_BYTE, 0, comm);
  if (rank != 0) memory = SharedMemory::open(place);
  // All have opened it, or none will.
  int good = memory.data() != nullptr ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, comm);
  if (good == 0) return nullptr;
  memory.close_file();
  return std::shared_ptr<NodeBoard>(new NodeBoard(comm, rank, ranks, std::move(memory)));
}

std::uint64_t& NodeBoard::counter(int rank) const {
  return *reinterpret_cast<std::uint64_t*>(memory_.data() + line * static_cast<std::size_t>(rank));
}

std::byte* NodeBoard::slot(int rank) const {
  const std::size_t before = 2 * static_cast<std::size_t>(rank) + round_ % 2;
  return memory_.data() + line * static_cast<std::size_t>(ranks_) + before * capacity;
}

void NodeBoard::gather(std::span<const std::byte> mine, const Take& take) {
  assert(mine.size() <= capacity);
  ++round_;
  std::memcpy(slot(rank_), mine.data(), mine.size());
  std::atomic_ref(counter(rank_)).store(round_, std::memory_order_release);
  for (int rank = 0; rank < ranks_; ++rank) {
    await(rank);
    take({slot(rank), mine.size()});
  }
}

void NodeBoard::await(int rank) const {
  await_flag(counter(rank), round_, [this] {  // late ones may wait for a message of ours
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &found, MPI_STATUS_IGNORE);
  });
}

}  // namespace block_eigs
