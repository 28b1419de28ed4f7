#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>

#include "spmm/device/address_space.hpp"
#include "spmm/device/memory_left.hpp"
#include "spmm/error.hpp"
#include "spmm/host/runtime/host_backend.hpp"
#include "spmm/host/runtime/host_peer_memory.hpp"
#include "spmm/host/runtime/promised_memory.hpp"
#include "spmm/host/runtime/threads.hpp"

namespace block_eigs::host {

namespace {

using Clock = std::chrono::steady_clock;

/// Queues run at once here, so an event is the time at which it was recorded.
class HostEvent final : public Event {
 public:
  Clock::time_point when{};
};

/// Bytes of the key, "MemAvailable:" say, in /proc/meminfo; 0 where it is missing.
std::size_t meminfo(const std::string& key) {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::string rest;
  std::size_t kibibytes = 0;
  while (file >> name >> kibibytes) {
    if (name == key) return kibibytes * 1024;
    std::getline(file, rest);
  }
  return 0;
}

/// Copies in parallel; the ranges may overlap only where they are the same.
void parallel_copy(void* to, const void* from, std::size_t bytes) {
  constexpr std::size_t chunk = 262'144;
  const auto chunks = static_cast<std::ptrdiff_t>((bytes + chunk - 1) / chunk);
#pragma omp parallel for schedule(static) num_threads(threads()) if (chunks > 4)
  for (std::ptrdiff_t i = 0; i < chunks; ++i) {
    const std::size_t begin = static_cast<std::size_t>(i) * chunk;
    const std::size_t size = std::min(chunk, bytes - begin);
    std::memmove(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin, size);
  }
}

/// Null where there is none. Large blocks ask for large pages: rows gathered at random miss the translation cache.
void* aligned_memory(std::size_t bytes) {
  constexpr std::size_t cache_line = 64;
  constexpr std::size_t large_page = std::size_t{2} << 20;
  void* memory = nullptr;
  const bool large = bytes >= 2 * large_page;
  if (posix_memalign(&memory, large ? large_page : cache_line, bytes) != 0) return nullptr;
  if (large) madvise(memory, bytes / large_page * large_page, MADV_HUGEPAGE);  // a wish that may fail
  return memory;
}

/// Puts every page on the memory node of the thread that will work on it: kernels deal rows in the same order.
void first_touch(void* memory, std::size_t bytes) {
  constexpr std::size_t page = 4096;
  const auto pages = static_cast<std::ptrdiff_t>((bytes + page - 1) / page);
#pragma omp parallel for schedule(static) num_threads(threads()) if (pages > 64)
  for (std::ptrdiff_t i = 0; i < pages; ++i) static_cast<char*>(memory)[static_cast<std::size_t>(i) * page] = 0;
}

class HostDevice final : public Device {
 public:
  Backend backend() const override { return Backend::host; }

  std::string name() const override {
    const int count = threads();
    return "host, " + std::to_string(count) + (count == 1 ? " thread" : " threads");
  }

  MemoryInfo memory() const override {
    const double shared = shared_memory_left();
    const std::size_t left =
        std::isfinite(shared) ? static_cast<std::size_t>(shared) : std::numeric_limits<std::size_t>::max();
    return {meminfo("MemTotal:"), std::min(left, address_space_left())};
  }

  void* allocate(std::size_t bytes) override {
    if (bytes == 0) return nullptr;
    void* memory = may_be_there(*this, bytes) ? aligned_memory(bytes) : nullptr;
    if (memory == nullptr) {
      throw of_memory(RunError("out of host memory: " + std::to_string(bytes) + " bytes asked for, " +
                               std::to_string(this->memory().free) + " bytes free" + address_space_remark()));
    }
    first_touch(memory, bytes);
    return memory;
  }
  void release(void* memory) noexcept override { std::free(memory); }
  void* allocate_staging(std::size_t bytes) override { return allocate(bytes); }
  void release_staging(void* memory) noexcept override { release(memory); }

  void copy_to_device(void* device, const void* host, std::size_t bytes, Queue) override {
    parallel_copy(device, host, bytes);
  }
  void copy_to_host(void* host, const void* device, std::size_t bytes, Queue) override {
    parallel_copy(host, device, bytes);
  }
  void copy_within(void* to, const void* from, std::size_t bytes, Queue) override {
    parallel_copy(to, from, bytes);
  }

  std::unique_ptr<Event> make_event() override { return std::make_unique<HostEvent>(); }
  void record(Event& event, Queue) override { static_cast<HostEvent&>(event).when = Clock::now(); }
  void wait(Queue, const Event&) override {}
  void synchronize(const Event&) override {}
  void synchronize(Queue) override {}
  double seconds_between(const Event& from, const Event& to) override {
    const auto& begin = static_cast<const HostEvent&>(from);
    const auto& end = static_cast<const HostEvent&>(to);
    return std::chrono::duration<double>(end.when - begin.when).count();
  }

  std::unique_ptr<PeerMemory> make_peer_memory() override { return host::make_peer_memory(*this); }
};

}  // namespace

std::shared_ptr<Device> make_device() { return std::make_shared<HostDevice>(); }

}  // namespace block_eigs::host
