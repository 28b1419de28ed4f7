#include "spmm/cuda/algebra/scan.hpp"

#include <thrust/iterator/transform_iterator.h>

#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "spmm/cuda/algebra/lanes.cuh"

namespace block_eigs::cuda {

namespace {

struct ToOffset {
  __host__ __device__ Offset operator()(LocalIndex length) const { return length; }
};

struct Larger {
  __host__ __device__ LocalIndex operator()(LocalIndex a, LocalIndex b) const { return a > b ? a : b; }
};

/// Runs a CUB algorithm: algorithm(memory, bytes), which says how much memory it needs where it is given none.
template <class Algorithm>
void run(const std::shared_ptr<CudaDevice>& gpu, const char* name, const Algorithm& algorithm) {
  std::size_t bytes = 0;
  check(algorithm(nullptr, bytes), name);
  Buffer<char> memory(gpu, bytes > 0 ? bytes : 1);
  check(algorithm(memory.data(), bytes), name);
}

}  // namespace

Buffer<Offset> offsets_of(const std::shared_ptr<CudaDevice>& gpu, const LocalIndex* lengths, std::int64_t count) {
  const cudaStream_t stream = gpu->stream(Queue::compute);
  Buffer<Offset> offsets(gpu, static_cast<std::size_t>(count) + 1);
  check(cudaMemsetAsync(offsets.data(), 0, sizeof(Offset), stream), "clear an offset");
  if (count == 0) return offsets;
  const auto wide = thrust::make_transform_iterator(lengths, ToOffset{});
  run(gpu, "sum row lengths", [&](void* memory, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(memory, bytes, wide, offsets.data() + 1, count, stream);
  });
  return offsets;
}

void number_flags(const std::shared_ptr<CudaDevice>& gpu, const LocalIndex* flags, std::int64_t count,
                  LocalIndex* numbers) {
  const cudaStream_t stream = gpu->stream(Queue::compute);
  if (count == 0) return;
  run(gpu, "number items", [&](void* memory, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(memory, bytes, flags, numbers, count, stream);
  });
}

LocalIndex number_flags(const std::shared_ptr<CudaDevice>& gpu, const Buffer<LocalIndex>& flags,
                        Buffer<LocalIndex>& numbers) {
  const std::size_t count = flags.size();
  if (count == 0) return 0;
  number_flags(gpu, flags.data(), static_cast<std::int64_t>(count), numbers.data());
  LocalIndex last = 0;
  LocalIndex last_flag = 0;
  gpu->copy_to_host(&last, numbers.data() + count - 1, sizeof(LocalIndex), Queue::compute);
  gpu->copy_to_host(&last_flag, flags.data() + count - 1, sizeof(LocalIndex), Queue::compute);
  gpu->synchronize(Queue::compute);
  return last + last_flag;
}

void last_begun(const std::shared_ptr<CudaDevice>& gpu, const LocalIndex* begun, std::int64_t count,
                LocalIndex* last) {
  const cudaStream_t stream = gpu->stream(Queue::compute);
  if (count == 0) return;
  run(gpu, "find beginnings", [&](void* memory, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveScan(memory, bytes, begun, last, Larger{}, count, stream);
  });
}

SortedItems sort_by_key(const std::shared_ptr<CudaDevice>& gpu, const std::uint32_t* keys, std::int64_t count,
                        std::uint32_t largest) {
  const cudaStream_t stream = gpu->stream(Queue::compute);
  SortedItems sorted{Buffer<std::uint32_t>(gpu, static_cast<std::size_t>(count)),
                     Buffer<std::uint32_t>(gpu, static_cast<std::size_t>(count))};
  if (count == 0) return sorted;
  Buffer<std::uint32_t> items(gpu, static_cast<std::size_t>(count));
  for_each(*gpu, count,
           [items = items.data()] __device__(std::int64_t i) { items[i] = static_cast<std::uint32_t>(i); });
  const int bits = std::max(1, static_cast<int>(std::bit_width(largest)));
  run(gpu, "sort items", [&](void* memory, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(memory, bytes, keys, sorted.keys.data(), items.data(),
                                           sorted.items.data(), count, 0, bits, stream);
  });
  return sorted;
}

Buffer<Offset> group_offsets(const std::shared_ptr<CudaDevice>& gpu, const Buffer<std::uint32_t>& keys,
                             LocalIndex groups) {
  Buffer<Offset> offsets(gpu, static_cast<std::size_t>(groups) + 1);
  const auto count = static_cast<Offset>(keys.size());
  for_each(*gpu, groups + std::int64_t{1},
           [offsets = offsets.data(), keys = keys.data(), count] __device__(std::int64_t group) {
             Offset low = 0;
             Offset high = count;
             while (low < high) {
               const Offset middle = (low + high) / 2;
               if (keys[middle] < static_cast<std::uint32_t>(group)) {
                 low = middle + 1;
               } else {
                 high = middle;
               }
             }
             offsets[group] = low;
           });
  return offsets;
}

}  // namespace block_eigs::cuda
