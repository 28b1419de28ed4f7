#include "spmm/cuda/runtime/cuda_peer_memory.hpp"

#include <cuda.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "spmm/cuda/runtime/cuda_check.hpp"

namespace block_eigs::cuda {

namespace {

static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(MemoryHandle));

using BatchMemOp = CUresult (*)(CUstream, unsigned, CUstreamBatchMemOpParams*, unsigned);
using GetAttribute = CUresult (*)(int*, CUdevice_attribute, CUdevice);
using GetErrorString = CUresult (*)(CUresult, const char**);

/// A function of the driver, which this program is not linked with; null where it has none of that name.
template <class Function>
Function driver_function(const char* name, unsigned version) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  const cudaError_t status = cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found);
#else
  static_cast<void>(version);
  const cudaError_t status = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
#endif
  if (status != cudaSuccess) cudaGetLastError();
  const bool usable = status == cudaSuccess && found == cudaDriverEntryPointSuccess;
  return usable ? reinterpret_cast<Function>(function) : nullptr;
}

/// The operations of CUDA 11.7 and later, which every driver has that offers this attribute.
constexpr unsigned memory_operations_version = 11070;

bool has_flags_of_64_bits() {
  const auto attribute = driver_function<GetAttribute>("cuDeviceGetAttribute", 2000);
  int ordinal = 0;
  int offered = 0;
  return attribute != nullptr && cudaGetDevice(&ordinal) == cudaSuccess &&
         attribute(&offered, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, ordinal) == CUDA_SUCCESS &&
         offered != 0;
}

CUdeviceptr address_of(const void* memory) { return reinterpret_cast<CUdeviceptr>(memory); }

class CudaPeerMemory final : public PeerMemory {
 public:
  CudaPeerMemory(CudaDevice& device, BatchMemOp batch) : device_(device), batch_(batch) {
    check(cudaStreamCreateWithFlags(&aside_, cudaStreamNonBlocking), "make a stream on " + device.name());
  }
  ~CudaPeerMemory() override { cudaStreamDestroy(aside_); }

  DeviceNumber device_number() const override { return device_.number(); }
  std::size_t granularity() const override { return std::size_t{2} << 20; }

  void* allocate(std::size_t bytes) override {
    void* const memory = device_.allocate_outside_pool(bytes);
    cudaError_t status = cudaMemsetAsync(memory, 0, bytes, aside_);
    if (status == cudaSuccess) status = cudaStreamSynchronize(aside_);
    if (status != cudaSuccess) cudaFree(memory);
    check(status, "clear memory on " + device_.name());
    return memory;
  }

  void release(void* memory) noexcept override { cudaFree(memory); }

  MemoryHandle handle_of(void* memory) override {
    cudaIpcMemHandle_t handle{};
    check(cudaIpcGetMemHandle(&handle, memory), "share memory of " + device_.name() + " with other processes");
    MemoryHandle bytes{};
    std::memcpy(bytes.data(), &handle, sizeof(handle));
    return bytes;
  }

  void* open(const MemoryHandle& handle) override {
    make_current();
    cudaIpcMemHandle_t remote{};
    std::memcpy(&remote, handle.data(), sizeof(remote));
    void* memory = nullptr;
    const cudaError_t status = cudaIpcOpenMemHandle(&memory, remote, cudaIpcMemLazyEnablePeerAccess);
    if (status != cudaSuccess)
      cudaGetLastError();  // not sticky, but it would be found again after the next launch
    check(status, "reach memory of another process from " + device_.name());
    return memory;
  }

  void close(void* opened) noexcept override {
    cudaIpcCloseMemHandle(opened);
    cudaGetLastError();  // its owner may be gone
  }

  // CU_STREAM_WRITE_VALUE_DEFAULT puts a memory fence before the write which has "similar semantics to
  // __threadfence_system() but is scoped to the stream" (CUDA driver API, CUstreamWriteValue_flags).
  void set(std::span<const Signal> signals, Queue queue) override {
    submit(signals, queue, [](CUstreamBatchMemOpParams& operation, const Signal& signal) {
      operation.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
      operation.writeValue.address = address_of(signal.flag);
      operation.writeValue.value64 = signal.value;
      operation.writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
    });
  }

  void wait(std::span<const Signal> signals, Queue queue) override {
    submit(signals, queue, [](CUstreamBatchMemOpParams& operation, const Signal& signal) {
      operation.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_64;
      operation.waitValue.address = address_of(signal.flag);
      operation.waitValue.value64 = signal.value;
      operation.waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
    });
  }

  std::uint64_t read(const std::uint64_t* flag) override {
    make_current();
    std::uint64_t value = 0;
    check(cudaMemcpyAsync(&value, flag, sizeof(value), cudaMemcpyDeviceToHost, aside_), "read a flag");
    check(cudaStreamSynchronize(aside_), "read a flag");
    return value;
  }

 private:
  void make_current() const { device_.make_current(); }

  template <class Fill>
  void submit(std::span<const Signal> signals, Queue queue, const Fill& fill) {
    constexpr std::size_t most = 64;  // the driver takes 256
    std::array<CUstreamBatchMemOpParams, most> operations;
    CUstream const stream = device_.stream(queue);
    for (std::size_t first = 0; first < signals.size(); first += most) {
      const std::size_t count = std::min(most, signals.size() - first);
      for (std::size_t i = 0; i < count; ++i) {
        operations[i] = {};
        fill(operations[i], signals[first + i]);
      }
      require_success(batch_(stream, static_cast<unsigned>(count), operations.data(), 0));
    }
  }

  void require_success(CUresult status) const {
    if (status == CUDA_SUCCESS) return;
    const auto text = driver_function<GetErrorString>("cuGetErrorString", 6000);
    const char* reason = nullptr;
    if (text != nullptr) text(status, &reason);
    throw RunError("CUDA: set or await a flag on " + device_.name() + ": " +
                   (reason != nullptr ? reason : "error " + std::to_string(status)));
  }

  CudaDevice& device_;
  BatchMemOp batch_;
  cudaStream_t aside_ = nullptr;  ///< works while the two queues wait for others
};

}  // namespace

std::unique_ptr<PeerMemory> make_peer_memory(CudaDevice& device) {
  const auto batch = driver_function<BatchMemOp>("cuStreamBatchMemOp", memory_operations_version);
  if (batch == nullptr || !has_flags_of_64_bits()) return nullptr;
  return std::make_unique<CudaPeerMemory>(device, batch);
}

}  // namespace block_eigs::cuda
