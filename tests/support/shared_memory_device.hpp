#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "spmm/device/peer_memory.hpp"
#include "spmm/error.hpp"
#include "tests/support/staged_device.hpp"

namespace block_eigs::test {

/// Memory of the host that processes of a node share, with queues that run at once: what the peer transport does,
/// on machines without a GPU.
class SharedMemory final : public PeerMemory {
 public:
  explicit SharedMemory(StagedDevice& device) : device_(device) {}
  ~SharedMemory() override {
    for (const auto& [data, mapping] : own_) unmap(data, mapping);
    for (const auto& [data, mapping] : opened_) unmap(data, mapping);
  }

  DeviceNumber device_number() const override { return {getpid(), 0}; }
  void* allocate(std::size_t bytes) override {
    ++device_.allocations;
    if (bytes > device_.room) throw RunError("no room");
    const int file = memfd_create("block-eigs test", 0);
    if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) throw RunError("no shared memory");
    return map(file, bytes, own_);
  }
  void release(void* memory) noexcept override {
    unmap(memory, own_.at(memory));
    own_.erase(memory);
  }
  MemoryHandle handle_of(void* memory) override {
    const Mapping& mapping = own_.at(memory);
    const std::string name = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(mapping.file);
    MemoryHandle handle{};
    std::memcpy(handle.data(), name.data(), name.size());
    return handle;
  }
  void* open(const MemoryHandle& handle) override {
    const int file = ::open(reinterpret_cast<const char*>(handle.data()), O_RDWR | O_CLOEXEC);
    if (file < 0) throw RunError("memory of another process cannot be opened");
    return map(file, static_cast<std::size_t>(lseek(file, 0, SEEK_END)), opened_);
  }
  void close(void* opened) noexcept override {
    unmap(opened, opened_.at(opened));
    opened_.erase(opened);
  }

  void set(std::span<const Signal> signals, Queue) override {
    for (const Signal& signal : signals) std::atomic_ref(*signal.flag).store(signal.value);
  }
  void wait(std::span<const Signal> signals, Queue) override {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    for (const Signal& signal : signals) {
      while (std::atomic_ref(*signal.flag).load() < signal.value) {
        if (std::chrono::steady_clock::now() > deadline) throw RunError("a flag was not set in time");
        std::this_thread::yield();
      }
    }
  }
  std::uint64_t read(const std::uint64_t* flag) override {
    return std::atomic_ref(*const_cast<std::uint64_t*>(flag)).load();
  }

 private:
  struct Mapping {
    int file = -1;
    std::size_t bytes = 0;
  };

  static void* map(int file, std::size_t bytes, std::map<void*, Mapping>& mappings) {
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) throw RunError("no address space for shared memory");
    mappings[memory] = {file, bytes};
    return memory;
  }
  static void unmap(void* memory, const Mapping& mapping) {
    munmap(memory, mapping.bytes);
    ::close(mapping.file);
  }

  StagedDevice& device_;
  std::map<void*, Mapping> own_;
  std::map<void*, Mapping> opened_;
};

/// The staged device with memory that other ranks reach, unless `closed`.
class SharedMemoryDevice final : public StagedDevice {
 public:
  explicit SharedMemoryDevice(bool closed = false) : StagedDevice(Backend::cuda), closed_(closed) {}

  std::unique_ptr<PeerMemory> make_peer_memory() override {
    return closed_ ? nullptr : std::make_unique<SharedMemory>(*this);
  }

 private:
  bool closed_;
};

}  // namespace block_eigs::test
