#pragma once

#include <cstdint>
#include <memory>

#include "spmm/cuda/runtime/cuda_device.hpp"
#include "spmm/device/buffer.hpp"
#include "spmm/types.hpp"

namespace block_eigs::cuda {

// Queued in Queue::compute.

/// Row offsets, count + 1 of them, from the lengths of rows.
Buffer<Offset> offsets_of(const std::shared_ptr<CudaDevice>& gpu, const LocalIndex* lengths, std::int64_t count);

/// numbers[i] = how many of flags[0 .. i - 1] are 1.
void number_flags(const std::shared_ptr<CudaDevice>& gpu, const LocalIndex* flags, std::int64_t count,
                  LocalIndex* numbers);

/// The same; returns how many are 1 in all. Waits.
LocalIndex number_flags(const std::shared_ptr<CudaDevice>& gpu, const Buffer<LocalIndex>& flags,
                        Buffer<LocalIndex>& numbers);

/// last[i] = the largest of begun[0 .. i]; both may be the same array.
void last_begun(const std::shared_ptr<CudaDevice>& gpu, const LocalIndex* begun, std::int64_t count,
                LocalIndex* last);

/// Items 0 .. count - 1 by ascending keys, equal keys in the order of the items.
struct SortedItems {
  Buffer<std::uint32_t> keys;
  Buffer<std::uint32_t> items;
};

/// Of keys that are at most `largest`.
SortedItems sort_by_key(const std::shared_ptr<CudaDevice>& gpu, const std::uint32_t* keys, std::int64_t count,
                        std::uint32_t largest);

/// Where among ascending keys each of 0 .. groups - 1 begins, and the end: groups + 1 offsets.
Buffer<Offset> group_offsets(const std::shared_ptr<CudaDevice>& gpu, const Buffer<std::uint32_t>& keys,
                             LocalIndex groups);

}  // namespace block_eigs::cuda
