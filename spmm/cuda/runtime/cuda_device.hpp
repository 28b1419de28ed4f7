#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <memory>
#include <string>
#include <unordered_map>

#include "spmm/cuda/runtime/pageable_copy.hpp"
#include "spmm/device/device.hpp"
#include "spmm/device/peer_memory.hpp"

namespace block_eigs::cuda {

/// One GPU: memory, two streams, events. Any thread may use it, one at a time. Memory comes from a pool of the
/// device's own, in the order of its queues: neither taking nor releasing it waits for the GPU. What is released
/// stays in the pool for the next that asks.
class CudaDevice final : public Device {
 public:
  /// Throws InputError where that GPU is too old.
  explicit CudaDevice(int ordinal);
  ~CudaDevice() override;

  /// Waits, and gives back to the driver the memory that is not in use. What memory() says of the most that was
  /// in use begins anew.
  void rest() noexcept;

  Backend backend() const override { return Backend::cuda; }
  std::string name() const override;
  MemoryInfo memory() const override;

  void* allocate(std::size_t bytes) override;
  void release(void* memory) noexcept override;
  bool can_borrow(const void* memory) const override;
  void* allocate_staging(std::size_t bytes) override;
  void release_staging(void* memory) noexcept override;

  void copy_to_device(void* device, const void* host, std::size_t bytes, Queue queue) override;
  void copy_to_host(void* host, const void* device, std::size_t bytes, Queue queue) override;
  void make_on_device(void* device, const ByteSource& source, std::size_t bytes, Queue queue) override;
  void copy_within(void* to, const void* from, std::size_t bytes, Queue queue) override;

  std::unique_ptr<Event> make_event() override;
  std::unique_ptr<Event> make_order_event() override;
  void record(Event& event, Queue queue) override;
  void wait(Queue queue, const Event& event) override;
  void synchronize(const Event& event) override;
  void synchronize(Queue queue) override;
  double seconds_between(const Event& from, const Event& to) override;

  TransferCount transferred() const override { return transferred_; }
  std::unique_ptr<PeerMemory> make_peer_memory() override;
  std::unique_ptr<DeviceMessages> make_messages() override;

  void wait_for_stream(Queue queue, void* stream) override;
  void let_stream_wait(void* stream, Queue queue) override;

  /// The stream behind a queue; makes this GPU the calling thread's current one, so that a launch may follow.
  cudaStream_t stream(Queue queue) const;
  /// Makes this GPU the calling thread's current one.
  void make_current() const;
  /// The same in all processes.
  DeviceNumber number() const;
  int multiprocessors() const { return properties_.multiProcessorCount; }
  /// Bytes of shared memory that a thread block may ask for.
  int shared_memory_per_block() const { return static_cast<int>(properties_.sharedMemPerBlockOptin); }
  int shared_memory_per_multiprocessor() const { return static_cast<int>(properties_.sharedMemPerMultiprocessor); }
  /// Bytes of parameters that a kernel may have: what the driver takes.
  std::size_t parameter_bytes() const { return parameter_bytes_; }
  /// Whether kernels may be launched before the one before them ends.
  bool launches_early() const { return launches_early_; }
  /// Whether all that was put into the queue is done. Throws where it failed.
  bool is_idle(Queue queue) const;
  /// Whether the queue has got to where the event was recorded last. Throws where that failed.
  bool has_happened(const Event& event) const;
  /// Lets a kernel have `bytes` of dynamic shared memory a thread block.
  void allow_shared_memory(const void* kernel, int bytes);
  /// Counts results that a kernel wrote to page-locked memory by itself, and the wait for them.
  void count_to_host(std::size_t bytes) {
    transferred_.to_host += bytes;
    ++transferred_.host_waits;
  }

  /// Counts numbers that a kernel read from page-locked memory by itself.
  void count_to_device(std::size_t bytes) { transferred_.to_device += bytes; }

  /// Memory of no pool, which may be shared with other processes, in pages of its own. Where there is none, the
  /// pool gives back what it keeps; then throws as `allocate` does.
  void* allocate_outside_pool(std::size_t bytes);

 private:
  [[noreturn]] void report_full(std::size_t bytes) const;

  void count_wait() { ++transferred_.host_waits; }

  int ordinal_;
  cudaDeviceProp properties_{};
  std::size_t parameter_bytes_ = 4096;
  bool launches_early_ = false;
  std::array<cudaStream_t, 2> streams_{};
  cudaMemPool_t pool_ = nullptr;
  // Memory is taken and released in the order of Queue::compute. Before Queue::transfer works in memory that was
  // taken since it worked last, it waits for that queue; before memory is released, that queue waits for it.
  mutable bool memory_taken_ = false;
  mutable bool transfer_used_ = false;
  cudaEvent_t crossing_ = nullptr;  ///< between a stream of others and ours, recorded and waited for at once
  PageableCopy pageable_;
  TransferCount transferred_;
  std::unordered_map<const void*, int> shared_memory_allowed_;
};

}  // namespace block_eigs::cuda
