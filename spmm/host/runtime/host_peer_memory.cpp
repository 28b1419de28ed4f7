#include "spmm/host/runtime/host_peer_memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

#include "spmm/device/await_flag.hpp"
#include "spmm/device/shared_memory.hpp"
#include "spmm/error.hpp"
#include "spmm/host/runtime/promised_memory.hpp"

namespace block_eigs::host {

namespace {

static_assert(sizeof(SharedPlace) <= sizeof(MemoryHandle) && std::is_trivially_copyable_v<SharedPlace>);

class HostPeerMemory final : public PeerMemory {
 public:
  explicit HostPeerMemory(const Device& device) : device_(device) {}

  /// Every process has its own.
  DeviceNumber device_number() const override { return {getpid(), 0}; }
  std::size_t granularity() const override { return std::size_t{64} << 10; }

  void* allocate(std::size_t bytes) override {
    errno = ENOMEM;
    SharedMemory memory = may_be_there(device_, bytes) ? SharedMemory::make(bytes) : SharedMemory();
    if (memory.data() == nullptr) {
      const std::string reason = std::strerror(errno);
      throw of_memory(RunError("no memory that processes of this node share: " + std::to_string(bytes) +
                               " bytes asked for (" + reason + ")"));
    }
    return keep(std::move(memory));
  }
  void release(void* memory) noexcept override { memory_.erase(memory); }

  MemoryHandle handle_of(void* memory) override {
    MemoryHandle handle{};
    std::memcpy(handle.data(), &memory_.at(memory).place(), sizeof(SharedPlace));
    return handle;
  }
  void* open(const MemoryHandle& handle) override {
    SharedPlace place;
    std::memcpy(&place, handle.data(), sizeof(place));
    SharedMemory memory = SharedMemory::open(place);
    if (memory.data() == nullptr) {
      const std::string reason = std::strerror(errno);
      throw RunError("memory of another process of this node is out of reach (" + reason + ")");
    }
    return keep(std::move(memory));
  }
  void close(void* opened) noexcept override { release(opened); }

  void set(std::span<const Signal> signals, Queue) override {
    for (const Signal& signal : signals)
      std::atomic_ref(*signal.flag).store(signal.value, std::memory_order_release);
  }
  void wait(std::span<const Signal> signals, Queue) override {
    const auto meanwhile = [this] {
      if (while_waiting_) while_waiting_();
    };
    for (const Signal& signal : signals) await_flag(*signal.flag, signal.value, meanwhile);
  }
  std::uint64_t read(const std::uint64_t* flag) override {
    return std::atomic_ref(*const_cast<std::uint64_t*>(flag)).load(std::memory_order_acquire);
  }
  void while_waiting(const std::function<void()>& call) override { while_waiting_ = call; }

 private:
  void* keep(SharedMemory memory) {
    void* const data = memory.data();
    memory_[data] = std::move(memory);
    return data;
  }
  const Device& device_;
  std::map<void*, SharedMemory> memory_;  ///< own and opened
  std::function<void()> while_waiting_;
};

/// Every halo keeps one open, and opens others for a moment.
constexpr rlim_t enough_files = 512;

rlim_t limit_of(int resource) {
  rlimit limit{};
  return getrlimit(resource, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

}  // namespace

std::unique_ptr<PeerMemory> make_peer_memory(const Device& device) {
  if (limit_of(RLIMIT_NOFILE) < enough_files) throw RunError("open files are limited to few (ulimit -n)");
  if (limit_of(RLIMIT_FSIZE) != RLIM_INFINITY)
    throw RunError("the size of files is limited (ulimit -f), and so is memory that processes share");
  return std::make_unique<HostPeerMemory>(device);
}

}  // namespace block_eigs::host
