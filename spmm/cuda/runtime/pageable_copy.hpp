#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>

#include "spmm/device/device.hpp"

namespace block_eigs::cuda {

/// Copies between the GPU and pageable host memory, in pieces through page-locked ones: all threads copy one piece
/// on the host while the link carries others. By itself CUDA does that with one thread, at a fraction of the
/// link's speed. Page-locked memory is taken by the first copy that is large enough to gain from it, and kept.
class PageableCopy {
 public:
  PageableCopy() = default;
  ~PageableCopy();
  PageableCopy(const PageableCopy&) = delete;
  PageableCopy& operator=(const PageableCopy&) = delete;

  /// Whether a copy of `bytes` is better made here: `host` is large, pageable, and there is page-locked memory.
  bool pays(const void* host, std::size_t bytes);
  /// Whether there is page-locked memory for bytes that are made on the way.
  bool ready();
  /// In the order of `stream`. Returns when `host` has been read.
  void to_device(void* device, const void* host, std::size_t bytes, cudaStream_t stream);
  /// The same of bytes that `source` makes.
  void to_device(void* device, const ByteSource& source, std::size_t bytes, cudaStream_t stream);
  /// In the order of `stream`. Returns when all is there.
  void to_host(void* host, const void* device, std::size_t bytes, cudaStream_t stream);

 private:
  static constexpr std::size_t piece = std::size_t{4} << 20;
  static constexpr std::size_t slots = 4;

  struct Slot {
    char* memory = nullptr;
    cudaEvent_t free = nullptr;  ///< the link is done with it
  };

  std::array<Slot, slots> slots_{};
  bool refused_ = false;
};

}  // namespace block_eigs::cuda
