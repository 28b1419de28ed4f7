#include "spmm/device/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <random>
#include <string>
#include <utility>

namespace block_eigs {

namespace {

/// A file that is closed with its scope, unless it is kept.
class File {
 public:
  explicit File(int number) : number_(number) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    const int error = errno;
    if (number_ >= 0) ::close(number_);
    errno = error;
  }
  int number() const { return number_; }
  int keep() { return std::exchange(number_, -1); }

 private:
  int number_;
};

constexpr auto mark_bytes = static_cast<ssize_t>(sizeof(SharedPlace::mark));

/// The mark is behind the memory.
off_t file_bytes(const SharedPlace& place) { return static_cast<off_t>(place.bytes) + mark_bytes; }

bool draw_mark(SharedPlace& place) {
  try {
    std::random_device draw;
    for (std::uint64_t& word : place.mark) word = (std::uint64_t{draw()} << 32U) | draw();
    return true;
  } catch (const std::exception&) {
    errno = EIO;
    return false;
  }
}

/// Signals cut it short, and nothing is lost by that.
bool take_pages(int file, off_t bytes) {
  int status = 0;
  do {
    status = fallocate(file, 0, 0, bytes);
  } while (status != 0 && errno == EINTR);
  return status == 0;
}

std::byte* mapped(int file, std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

/// Processes of different containers may have the same numbers.
bool is_the_one(int file, const SharedPlace& place) {
  struct stat is {};
  std::array<std::uint64_t, 2> mark{};
  return fstat(file, &is) == 0 && S_ISREG(is.st_mode) && is.st_size == file_bytes(place) &&
         pread(file, mark.data(), sizeof(mark), static_cast<off_t>(place.bytes)) == mark_bytes &&
         mark == place.mark;
}

}  // namespace

SharedMemory SharedMemory::make(std::size_t bytes) {
  SharedMemory made;
  errno = EINVAL;
  SharedPlace place{getpid(), -1, bytes, {}};
  if (bytes == 0 || !draw_mark(place)) return made;
  File file(memfd_create("block-eigs", MFD_CLOEXEC));
  if (file.number() < 0 || !take_pages(file.number(), file_bytes(place))) return made;
  if (pwrite(file.number(), place.mark.data(), sizeof(place.mark), static_cast<off_t>(bytes)) != mark_bytes)
    return made;
  made.data_ = mapped(file.number(), bytes);
  if (made.data_ == nullptr) return made;
  place.file = file.keep();
  made.place_ = place;
  return made;
}

SharedMemory SharedMemory::open(const SharedPlace& place) {
  SharedMemory opened;
  errno = ENOENT;
  if (place.file < 0) return opened;
  const std::string name = "/proc/" + std::to_string(place.process) + "/fd/" + std::to_string(place.file);
  const File file(::open(name.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (file.number() < 0) return opened;
  errno = ENOENT;
  if (!is_the_one(file.number(), place)) return opened;
  opened.place_.bytes = place.bytes;
  opened.data_ = mapped(file.number(), place.bytes);
  return opened;
}

SharedMemory::~SharedMemory() {
  close_file();
  if (data_ != nullptr) munmap(data_, place_.bytes);
}

void SharedMemory::close_file() {
  if (place_.file >= 0) ::close(static_cast<int>(place_.file));
  place_.file = -1;
}

void SharedMemory::swap(SharedMemory& other) noexcept {
  std::swap(place_, other.place_);
  std::swap(data_, other.data_);
}

}  // namespace block_eigs
