#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "spmm/cuda/dense/hand_over.hpp"
#include "spmm/cuda/runtime/cuda_device.hpp"
#include "spmm/device/buffer.hpp"

namespace block_eigs::cuda {

/// Memory that block kernels need besides their blocks, kept from call to call: small matrices on their way to the
/// GPU, sums over thread blocks, results on their way back. Grows to the largest request and stays; only growing
/// waits for the GPU. Everything is ordered in Queue::compute.
class Workspace {
 public:
  explicit Workspace(std::shared_ptr<CudaDevice> device);
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  /// Page-locked memory for `count` numbers, to be filled and then sent. Waits only when `slots` earlier ones are
  /// all still on their way.
  double* stage(std::size_t count);
  /// The staged numbers in device memory, valid for kernels launched before the next `send`.
  const double* send();

  /// Device memory for `count` numbers, contents undefined; valid until the next call.
  double* partial_sums(std::size_t count);

  /// Page-locked memory for `count` numbers that kernels write themselves.
  HandOver results(std::size_t count);
  /// Waits until the kernels that were given the latest `results` have announced them, and returns them. Watches
  /// memory: that is some microseconds faster than waiting for an event. `sent` is what sent() was when the last
  /// of these kernels had been launched. Throws where the GPU has failed.
  const double* wait_for_results(std::uint64_t sent);
  /// How often `send` was called.
  std::uint64_t sent() const { return sent_; }

 private:
  static constexpr std::size_t slots = 8;

  /// Numbers sent since the host last had results that are known to be on the GPU by the next results, which come
  /// after few others as a rule: events hold a queue up, and none is recorded for so many.
  static constexpr std::size_t unmarked = 2;

  struct Slot {
    std::unique_ptr<Event> sent;
    std::uint64_t number = 0;  ///< of its `send`
    bool used = false;
    bool marked = false;  ///< the event says when it is free
  };

  void wait_for(std::size_t slot);

  std::shared_ptr<CudaDevice> device_;
  std::size_t stage_capacity_ = 0;
  std::size_t staged_ = 0;
  std::size_t slot_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t sent_before_results_ = 0;
  std::array<Slot, slots> ring_;
  StagingBuffer<double> staging_;
  Buffer<double> received_;
  Buffer<double> partial_sums_;
  StagingBuffer<double> results_;
  std::size_t results_expected_ = 0;
  StagingBuffer<std::uint64_t> results_done_;
  std::uint64_t ticket_ = 0;
  Buffer<unsigned> arrived_;
};

}  // namespace block_eigs::cuda
