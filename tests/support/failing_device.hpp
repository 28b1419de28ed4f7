#pragma once

#include <memory>
#include <string>
#include <utility>

#include "spmm/device/device.hpp"
#include "spmm/error.hpp"

namespace block_eigs::test {

/// Another device that is out of memory as soon as `full` is set.
class FailingDevice final : public Device {
 public:
  explicit FailingDevice(std::shared_ptr<Device> inner) : inner_(std::move(inner)) {}

  bool full = false;

  Backend backend() const override { return inner_->backend(); }
  std::string name() const override { return inner_->name(); }
  MemoryInfo memory() const override { return inner_->memory(); }
  void* allocate(std::size_t bytes) override {
    if (full) throw RunError("out of memory: " + std::to_string(bytes) + " bytes");
    return inner_->allocate(bytes);
  }
  void release(void* memory) noexcept override { inner_->release(memory); }
  void* allocate_staging(std::size_t bytes) override { return inner_->allocate_staging(bytes); }
  void release_staging(void* memory) noexcept override { inner_->release_staging(memory); }
  void copy_to_device(void* device, const void* host, std::size_t bytes, Queue queue) override {
    inner_->copy_to_device(device, host, bytes, queue);
  }
  void copy_to_host(void* host, const void* device, std::size_t bytes, Queue queue) override {
    inner_->copy_to_host(host, device, bytes, queue);
  }
  void copy_within(void* to, const void* from, std::size_t bytes, Queue queue) override {
    inner_->copy_within(to, from, bytes, queue);
  }
  std::unique_ptr<Event> make_event() override { return inner_->make_event(); }
  void record(Event& event, Queue queue) override { inner_->record(event, queue); }
  void wait(Queue queue, const Event& event) override { inner_->wait(queue, event); }
  void synchronize(const Event& event) override { inner_->synchronize(event); }
  void synchronize(Queue queue) override { inner_->synchronize(queue); }
  double seconds_between(const Event& from, const Event& to) override { return inner_->seconds_between(from, to); }

 private:
  std::shared_ptr<Device> inner_;
};

}  // namespace block_eigs::test
