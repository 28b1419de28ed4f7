#include "spmm/parallel/node_board.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cassert>
#include <cstring>
#include <exception>
#include <random>
#include <string>

namespace block_eigs {

namespace {

/// More than what processors fetch at once, so that counters do not travel together.
constexpr std::size_t line = 128;

/// How others find the memory that one rank has made, and know that it is the one.
struct Place {
  std::int64_t process = 0;
  std::int64_t file = -1;  ///< a number of that process; below 0: there is none
  std::array<std::uint64_t, 2> mark{};
};

/// A file that is closed with its scope.
class File {
 public:
  explicit File(int number) : number_(number) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

std::byte* mapped(int file, std::size_t bytes) {
  if (file < 0) return nullptr;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

/// A new file without a name, all zero but for the mark.
int made(std::size_t bytes, const Place& place) {
  const int file = memfd_create("block-eigs", MFD_CLOEXEC);
  if (file < 0) return -1;
  if (ftruncate(file, static_cast<off_t>(bytes)) == 0 &&
      pwrite(file, place.mark.data(), sizeof(place.mark), 0) == static_cast<ssize_t>(sizeof(place.mark)))
    return file;
  ::close(file);
  return -1;
}

/// The file of another process; below 0 where it is out of reach, or not the one: processes of different
/// containers may have the same numbers.
int opened(std::size_t bytes, const Place& place) {
  const std::string name = "/proc/" + std::to_string(place.process) + "/fd/" + std::to_string(place.file);
  const int file = ::open(name.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return -1;
  struct stat is {};
  std::array<std::uint64_t, 2> mark{};
  if (fstat(file, &is) == 0 && S_ISREG(is.st_mode) && is.st_size == static_cast<off_t>(bytes) &&
      pread(file, mark.data(), sizeof(mark), 0) == static_cast<ssize_t>(sizeof(mark)) && mark == place.mark)
    return file;
  ::close(file);
  return -1;
}

}  // namespace

std::shared_ptr<NodeBoard> NodeBoard::make(MPI_Comm comm) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const std::size_t bytes = line + static_cast<std::size_t>(ranks) * (line + 2 * capacity);
  Place place;
  if (rank == 0) {
    place.process = getpid();
    try {
      std::random_device draw;
      for (std::uint64_t& word : place.mark) word = (std::uint64_t{draw()} << 32U) | draw();
      place.file = made(bytes, place);
    } catch (const std::exception&) {
      place.file = -1;  // the others wait to be told
    }
  }
  MPI_Bcast(&place, sizeof(place), MPI_BYTE, 0, comm);
  const File file(rank == 0 ? static_cast<int>(place.file) : place.file >= 0 ? opened(bytes, place) : -1);
  std::byte* const memory = mapped(file.number(), bytes);
  // All have opened it, or none will: the file may be closed then.
  int good = memory != nullptr ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, comm);
  if (good != 0) return std::shared_ptr<NodeBoard>(new NodeBoard(comm, rank, ranks, memory, bytes));
  if (memory != nullptr) munmap(memory, bytes);
  return nullptr;
}

NodeBoard::~NodeBoard() { munmap(memory_, bytes_); }

std::uint64_t& NodeBoard::counter(int rank) const {
  return *reinterpret_cast<std::uint64_t*>(memory_ + line * (1 + static_cast<std::size_t>(rank)));
}

std::byte* NodeBoard::slot(int rank) const {
  const std::size_t before = 2 * static_cast<std::size_t>(rank) + round_ % 2;
  return memory_ + line * (1 + static_cast<std::size_t>(ranks_)) + before * capacity;
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
  constexpr int looks = 2000;  // some microseconds
  const std::atomic_ref<std::uint64_t> posted(counter(rank));
  for (;;) {
    for (int look = 0; look < looks; ++look) {
      if (posted.load(std::memory_order_acquire) >= round_) return;
    }
    // Late ones may wait for a message of ours, or for this core.
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &found, MPI_STATUS_IGNORE);
    sched_yield();
  }
}

}  // namespace block_eigs
