#include "spmm/cuda/runtime/pageable_copy.hpp"

#include <algorithm>
#include <cstring>

#include "spmm/cuda/runtime/cuda_check.hpp"

namespace block_eigs::cuda {

PageableCopy::~PageableCopy() {
  for (const Slot& slot : slots_) {
    if (slot.free != nullptr) cudaEventDestroy(slot.free);
    if (slot.memory != nullptr) cudaFreeHost(slot.memory);
  }
}

bool PageableCopy::ready() {
  if (slots_.front().memory != nullptr || refused_) return !refused_;
  void* memory = nullptr;
  refused_ = true;  // until all of it is there
  for (Slot& slot : slots_) {
    if (cudaHostAlloc(&memory, piece, cudaHostAllocPortable) != cudaSuccess) {
      cudaGetLastError();
      return false;
    }
    slot.memory = static_cast<char*>(memory);
    check(cudaEventCreateWithFlags(&slot.free, cudaEventDisableTiming), "make an event");
  }
  refused_ = false;
  return true;
}

bool PageableCopy::pays(const void* host, std::size_t bytes) {
  if (bytes < 2 * piece) return false;
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, host) != cudaSuccess) cudaGetLastError();
  return attributes.type == cudaMemoryTypeUnregistered && ready();
}

void PageableCopy::to_device(void* device, const void* host, std::size_t bytes, cudaStream_t stream) {
  const ByteSource copies = [from = static_cast<const char*>(host)](char* to, std::size_t begin,
                                                                    std::size_t count) {
    std::memcpy(to, from + begin, count);
  };
  to_device(device, copies, bytes, stream);
}

void PageableCopy::to_device(void* device, const ByteSource& source, std::size_t bytes, cudaStream_t stream) {
  for (std::size_t begin = 0; begin < bytes; begin += piece) {
    const Slot& slot = slots_[begin / piece % slots];
    const std::size_t size = std::min(piece, bytes - begin);
    check(cudaEventSynchronize(slot.free), "wait for a copy");
    fill_in_parts(slot.memory, source, begin, size);
    check(cudaMemcpyAsync(static_cast<char*>(device) + begin, slot.memory, size, cudaMemcpyHostToDevice, stream),
          "copy to the GPU");
    check(cudaEventRecord(slot.free, stream), "record an event");
  }
}

void PageableCopy::to_host(void* host, const void* device, std::size_t bytes, cudaStream_t stream) {
  const std::size_t count = (bytes + piece - 1) / piece;
  const auto size_of = [&](std::size_t p) { return std::min(piece, bytes - p * piece); };
  const auto fetch = [&](std::size_t p) {
    const Slot& slot = slots_[p % slots];
    check(cudaMemcpyAsync(slot.memory, static_cast<const char*>(device) + p * piece, size_of(p),
                          cudaMemcpyDeviceToHost, stream),
          "copy from the GPU");
    check(cudaEventRecord(slot.free, stream), "record an event");
  };
  // Earlier copies to the device may still read the slots.
  for (const Slot& slot : slots_) check(cudaEventSynchronize(slot.free), "wait for a copy");
  for (std::size_t p = 0; p < std::min(count, slots); ++p) fetch(p);
  for (std::size_t p = 0; p < count; ++p) {
    const Slot& slot = slots_[p % slots];
    check(cudaEventSynchronize(slot.free), "wait for a copy");
    const ByteSource copies = [&slot](char* to, std::size_t begin, std::size_t part) {
      std::memcpy(to, slot.memory + begin, part);
    };
    fill_in_parts(static_cast<char*>(host) + p * piece, copies, 0, size_of(p));
    if (p + slots < count) fetch(p + slots);
  }
}

}  // namespace block_eigs::cuda
