#pragma once

#include <memory>
#include <utility>

#include "spmm/device/peer_memory.hpp"
#include "spmm/error.hpp"
#include "tests/support/staged_device.hpp"

namespace block_eigs::test {

/// The host's memory that processes of a node share, under the device's rules.
class SharedMemory final : public PeerMemory {
 public:
  SharedMemory(StagedDevice& device, std::unique_ptr<PeerMemory> memory)
      : device_(device), memory_(std::move(memory)) {}

  DeviceNumber device_number() const override { return memory_->device_number(); }
  std::size_t granularity() const override { return memory_->granularity(); }
  void* allocate(std::size_t bytes) override {
    ++device_.allocations;
    if (bytes > device_.room) throw RunError("no room");
    return memory_->allocate(bytes);
  }
  void release(void* memory) noexcept override { memory_->release(memory); }
  MemoryHandle handle_of(void* memory) override { return memory_->handle_of(memory); }
  void* open(const MemoryHandle& handle) override { return memory_->open(handle); }
  void close(void* opened) noexcept override { memory_->close(opened); }
  void set(std::span<const Signal> signals, Queue queue) override { memory_->set(signals, queue); }
  void wait(std::span<const Signal> signals, Queue queue) override { memory_->wait(signals, queue); }
  void while_waiting(const std::function<void()>& call) override { memory_->while_waiting(call); }
  std::uint64_t read(const std::uint64_t* flag) override { return memory_->read(flag); }

 private:
  StagedDevice& device_;
  std::unique_ptr<PeerMemory> memory_;
};

/// The staged device with memory that other ranks reach, unless `closed`.
class SharedMemoryDevice final : public StagedDevice {
 public:
  explicit SharedMemoryDevice(Backend backend, bool closed = false) : StagedDevice(backend), closed_(closed) {}

  std::unique_ptr<PeerMemory> make_peer_memory() override {
    return closed_ ? nullptr : std::make_unique<SharedMemory>(*this, host()->make_peer_memory());
  }

 private:
  bool closed_;
};

}  // namespace block_eigs::test
