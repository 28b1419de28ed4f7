#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>

#include "spmm/device/device.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

/// The host backend with a count of the device memory in use.
class CountingDevice : public Device {
 public:
  std::size_t in_use() const { return in_use_; }
  std::size_t peak() const { return peak_; }
  /// From here on.
  void measure_peak() { peak_ = in_use_; }
  /// There is no more than that.
  void limit(std::size_t bytes) { limit_ = bytes; }

  Backend backend() const override { return Backend::host; }
  std::string name() const override { return inner_->name(); }
  MemoryInfo memory() const override { return inner_->memory(); }
  void* allocate(std::size_t bytes) override {
    if (in_use_ + bytes > limit_) throw RunError("no more memory");
    void* memory = inner_->allocate(bytes);
    if (memory != nullptr) sizes_[memory] = bytes;
    in_use_ += bytes;
    peak_ = std::max(peak_, in_use_);
    return memory;
  }
  void release(void* memory) noexcept override {
    const auto found = sizes_.find(memory);
    if (found != sizes_.end()) {
      in_use_ -= found->second;
      sizes_.erase(found);
    }
    inner_->release(memory);
  }
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
  std::shared_ptr<Device> inner_ = make_device(Backend::host, 0);
  std::map<void*, std::size_t> sizes_;
  std::size_t in_use_ = 0;
  std::size_t peak_ = 0;
  std::size_t limit_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace block_eigs
