#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "spmm/device/device.hpp"

namespace block_eigs {

/// Array of `size()` elements in device memory, contents undefined at first. Keeps its Device alive.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(std::shared_ptr<Device> device, std::size_t size) : device_(std::move(device)), size_(size) {
    if (size_ > 0) data_ = static_cast<T*>(device_->allocate(size_ * sizeof(T)));
  }
  /// Memory of the device that belongs to someone else and outlives the buffer.
  static Buffer borrowed(const std::shared_ptr<Device>& device, T* data, std::size_t size) {
    Buffer buffer;
    buffer.device_ = device;
    buffer.data_ = data;
    buffer.size_ = size;
    buffer.owned_ = false;
    return buffer;
  }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~Buffer() {
    if (data_ != nullptr && owned_) device_->release(data_);
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  const std::shared_ptr<Device>& device() const { return device_; }

  /// `host` holds size() elements. The copy is complete on return.
  void upload(const T* host) {
    if (size_ == 0) return;
    device_->copy_to_device(data_, host, size_ * sizeof(T), Queue::compute);
    device_->synchronize(Queue::compute);
  }
  void download(T* host) const {
    if (size_ == 0) return;
    device_->copy_to_host(host, data_, size_ * sizeof(T), Queue::compute);
    device_->synchronize(Queue::compute);
  }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(owned_, other.owned_);
  }

  std::shared_ptr<Device> device_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
  bool owned_ = true;
};

/// Page-locked host memory of one Device, for messages and results on their way.
template <class T>
class StagingBuffer {
 public:
  StagingBuffer() = default;
  StagingBuffer(std::shared_ptr<Device> device, std::size_t size) : device_(std::move(device)), size_(size) {
    if (size_ > 0) data_ = static_cast<T*>(device_->allocate_staging(size_ * sizeof(T)));
  }
  StagingBuffer(StagingBuffer&& other) noexcept { swap(other); }
  StagingBuffer& operator=(StagingBuffer&& other) noexcept {
    StagingBuffer moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~StagingBuffer() {
    if (data_ != nullptr) device_->release_staging(data_);
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  void swap(StagingBuffer& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  std::shared_ptr<Device> device_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace block_eigs
