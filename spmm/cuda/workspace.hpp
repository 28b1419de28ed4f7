#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "spmm/buffer.hpp"
#include "spmm/cuda/cuda_device.hpp"

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

  /// Page-locked memory that kernels write themselves; read it after `wait_for_results`.
  double* results(std::size_t count);
  void wait_for_results();

 private:
  static constexpr std::size_t slots = 8;

  struct Slot {
    std::unique_ptr<Event> sent;
    bool used = false;
  };

  std::shared_ptr<CudaDevice> device_;
  std::size_t stage_capacity_ = 0;
  std::size_t staged_ = 0;
  std::size_t slot_ = 0;
  std::array<Slot, slots> ring_;
  StagingBuffer<double> staging_;
  Buffer<double> received_;
  Buffer<double> partial_sums_;
  StagingBuffer<double> results_;
  std::size_t results_expected_ = 0;
  std::unique_ptr<Event> results_ready_;
};

}  // namespace block_eigs::cuda
