#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "spmm/device/device.hpp"
#include "spmm/error.hpp"

namespace block_eigs::test {

/// The host device under a name of its own: with Backend::cuda blocks take the way through page-locked memory that
/// they take on a GPU. Counts allocations and refuses those that exceed `room`.
class StagedDevice : public Device {
 public:
  explicit StagedDevice(Backend backend) : backend_(backend), host_(make_device(Backend::host, 0)) {}

  std::size_t room = std::numeric_limits<std::size_t>::max();
  int allocations = 0;
  bool lost = false;  ///< from now on events cannot be recorded, as on a GPU after an error
  int events_recorded = 0;

  const std::shared_ptr<Device>& host() const { return host_; }

  Backend backend() const override { return backend_; }
  std::string name() const override { return host_->name(); }
  MemoryInfo memory() const override { return host_->memory(); }
  void* allocate(std::size_t bytes) override {
    ++allocations;
    if (bytes > room) throw RunError("no room");
    return host_->allocate(bytes);
  }
  void release(void* memory) noexcept override { host_->release(memory); }
  void* allocate_staging(std::size_t bytes) override {
    ++allocations;
    return host_->allocate_staging(bytes);
  }
  void release_staging(void* memory) noexcept override { host_->release_staging(memory); }
  void copy_to_device(void* device, const void* host, std::size_t bytes, Queue queue) override {
    host_->copy_to_device(device, host, bytes, queue);
  }
  void copy_to_host(void* host, const void* device, std::size_t bytes, Queue queue) override {
    host_->copy_to_host(host, device, bytes, queue);
  }
  void copy_within(void* to, const void* from, std::size_t bytes, Queue queue) override {
    host_->copy_within(to, from, bytes, queue);
  }
  std::unique_ptr<Event> make_event() override { return host_->make_event(); }
  void record(Event& event, Queue queue) override {
    ++events_recorded;
    if (lost) throw RunError("device lost");
    host_->record(event, queue);
  }
  void wait(Queue queue, const Event& event) override { host_->wait(queue, event); }
  void synchronize(const Event& event) override { host_->synchronize(event); }
  void synchronize(Queue queue) override { host_->synchronize(queue); }
  double seconds_between(const Event& from, const Event& to) override { return host_->seconds_between(from, to); }

 private:
  Backend backend_;
  std::shared_ptr<Device> host_;
};

}  // namespace block_eigs::test
