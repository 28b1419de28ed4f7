#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace block_eigs {

/// How another process of this node finds shared memory, and knows that it is the one. Plain bytes, to be sent to
/// it.
struct SharedPlace {
  std::int64_t process = 0;
  std::int64_t file = -1;  ///< a number of that process; below 0: there is none
  std::uint64_t bytes = 0;
  std::array<std::uint64_t, 2> mark{};
};

/// Memory of this host that processes of one node share: a file without a name in any file system, so that nothing
/// of it outlives them. Not collective. Throws nothing: there is none where `data()` is null, and errno says why.
class SharedMemory {
 public:
  SharedMemory() = default;
  /// New memory, all zero, that is there: nothing is only promised. Others may open it while its file is open
  /// here.
  static SharedMemory make(std::size_t bytes);
  /// That of another process; none where it is out of reach, as it may be between containers.
  static SharedMemory open(const SharedPlace& place);
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  SharedMemory(SharedMemory&& other) noexcept { swap(other); }
  SharedMemory& operator=(SharedMemory&& other) noexcept {
    SharedMemory taken;
    taken.swap(other);
    swap(taken);
    return *this;
  }
  /// Those who have opened it keep it.
  ~SharedMemory();

  std::byte* data() const { return data_; }
  /// Of memory that was made here; no others.
  const SharedPlace& place() const { return place_; }
  /// From here on nobody opens it any more.
  void close_file();

 private:
  void swap(SharedMemory& other) noexcept;

  SharedPlace place_{};
  std::byte* data_ = nullptr;
};

}  // namespace block_eigs
