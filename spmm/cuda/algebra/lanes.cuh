#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "spmm/cuda/runtime/cuda_check.hpp"
#include "spmm/cuda/runtime/cuda_device.hpp"
#include "spmm/types.hpp"

namespace block_eigs::cuda {

/// Threads of a block where nothing asks for another number.
inline constexpr int block_threads = 256;

inline unsigned blocks_for(std::int64_t items, int per_block = block_threads) {
  return static_cast<unsigned>((items + per_block - 1) / per_block);
}

template <class Item>
__global__ void each_item(std::int64_t count, Item item) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) item(i);
}

/// Queues item(i) for i = 0 .. count - 1, a thread each.
template <class Item>
void for_each(const CudaDevice& gpu, std::int64_t count, Item item) {
  const cudaStream_t stream = gpu.stream(Queue::compute);
  if (count == 0) return;
  each_item<<<blocks_for(count), block_threads, 0, stream>>>(count, item);
  check_launch("set-up");
}

/// Calls act with the number of lanes for pieces of about `mean` items as a constant: 4, 8, 16 or 32.
template <class Act>
void with_lanes(double mean, const Act& act) {
  if (mean <= 4.0) {
    act(std::integral_constant<int, 4>{});
  } else if (mean <= 7.0) {
    act(std::integral_constant<int, 8>{});
  } else if (mean <= 16.0) {
    act(std::integral_constant<int, 16>{});
  } else {
    act(std::integral_constant<int, 32>{});
  }
}

/// Non-negative doubles are in the order of their bits.
__device__ inline void raise_to(unsigned long long* most, double value) {
  const auto bits = static_cast<unsigned long long>(__double_as_longlong(value));
  if (bits > *static_cast<volatile unsigned long long*>(most)) atomicMax(most, bits);
}

/// Of all threads of a warp, which must all be there.
__device__ inline double largest_in_warp(double value) {
  for (int distance = 16; distance > 0; distance /= 2) value = fmax(value, __shfl_xor_sync(~0u, value, distance));
  return value;
}

}  // namespace block_eigs::cuda
