#include "spmm/cuda/runtime/cuda_device.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "spmm/cuda/runtime/cuda_check.hpp"
#include "spmm/cuda/runtime/cuda_peer_memory.hpp"
#include "spmm/cuda/runtime/early_launch.hpp"
#include "spmm/cuda/runtime/nccl_messages.hpp"
#include "spmm/cuda/runtime/requirements.hpp"

namespace block_eigs::cuda {

namespace {

class CudaEvent final : public Event {
 public:
  explicit CudaEvent(unsigned flags) { check(cudaEventCreateWithFlags(&handle_, flags), "make an event"); }
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  ~CudaEvent() override { cudaEventDestroy(handle_); }
  cudaEvent_t handle() const { return handle_; }

 private:
  cudaEvent_t handle_ = nullptr;
};

cudaEvent_t handle_of(const Event& event) { return static_cast<const CudaEvent&>(event).handle(); }

/// "123.4 MB", for people.
std::string megabytes(std::size_t bytes) {
  const std::size_t tenths = (bytes + 50'000) / 100'000;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " MB";
}

}  // namespace

CudaDevice::CudaDevice(int ordinal) : ordinal_(ordinal) {
  check(cudaGetDeviceProperties(&properties_, ordinal), "read the properties of GPU " + std::to_string(ordinal));
  require_capability(ordinal, properties_.name, {properties_.major, properties_.minor});
  make_current();
  int driver = 0;
  check(cudaDriverGetVersion(&driver), "read the version of the driver");
  if (driver >= 12010) parameter_bytes_ = 32764;
  launches_early_ = can_launch_early();
  int lowest = 0;
  int highest = 0;
  check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "read the priorities of streams");
  // Rows for others are packed first, whatever fills the GPU: their way is what a product waits for.
  for (std::size_t q = 0; q < streams_.size(); ++q) {
    const int priority = q == 0 ? lowest : highest;
    check(cudaStreamCreateWithPriority(&streams_[q], cudaStreamNonBlocking, priority),
          "make a stream on " + name());
  }
  check(cudaEventCreateWithFlags(&crossing_, cudaEventDisableTiming), "make an event");
  cudaMemPoolProps pool{};
  pool.allocType = cudaMemAllocationTypePinned;
  pool.location = {cudaMemLocationTypeDevice, ordinal};
  check(cudaMemPoolCreate(&pool_, &pool), "make a memory pool on " + name());
  auto keep = std::numeric_limits<std::uint64_t>::max();
  check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep), "set up a memory pool");
}

CudaDevice::~CudaDevice() {
  cudaMemPoolDestroy(pool_);
  cudaEventDestroy(crossing_);
  for (cudaStream_t stream : streams_) cudaStreamDestroy(stream);
}

void CudaDevice::rest() noexcept {
  // Errors were found by whoever waited for the work.
  if (cudaSetDevice(ordinal_) != cudaSuccess) return;
  for (cudaStream_t stream : streams_) cudaStreamSynchronize(stream);
  cudaMemPoolTrimTo(pool_, 0);
  std::uint64_t from_here_on = 0;
  cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrUsedMemHigh, &from_here_on);
  cudaGetLastError();
}

std::string CudaDevice::name() const {
  return std::string(properties_.name) + ", device " + std::to_string(ordinal_);
}

void CudaDevice::make_current() const { check(cudaSetDevice(ordinal_), "use GPU " + std::to_string(ordinal_)); }

cudaStream_t CudaDevice::stream(Queue queue) const {
  make_current();
  if (queue == Queue::transfer) {
    if (memory_taken_) {
      check(cudaEventRecord(crossing_, streams_[0]), "record an event");
      check(cudaStreamWaitEvent(streams_[1], crossing_, 0), "let a queue wait for another");
    }
    memory_taken_ = false;
    transfer_used_ = true;
  }
  return streams_[queue == Queue::compute ? 0 : 1];
}

MemoryInfo CudaDevice::memory() const {
  make_current();
  MemoryInfo info;
  check(cudaMemGetInfo(&info.free, &info.total), "read the free memory of " + name());
  std::uint64_t reserved = 0;
  std::uint64_t used = 0;
  check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &reserved), "look at a memory pool");
  check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemCurrent, &used), "look at a memory pool");
  std::uint64_t most_used = 0;
  check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemHigh, &most_used), "look at a memory pool");
  info.free += reserved - used;
  info.least_free = info.free - std::min<std::size_t>(info.free, most_used - std::min(used, most_used));
  return info;
}

void CudaDevice::report_full(std::size_t bytes) const {
  const MemoryInfo info = memory();
  throw of_memory(RunError("out of memory on " + name() + ": " + std::to_string(bytes) + " bytes (" +
                           megabytes(bytes) + ") needed, " + std::to_string(info.free) + " bytes (" +
                           megabytes(info.free) + ") free of " + megabytes(info.total) +
                           "; use more ranks on more GPUs, a smaller block_size, or precision: float"));
}

void* CudaDevice::allocate(std::size_t bytes) {
  void* memory = nullptr;
  const cudaError_t status = cudaMallocFromPoolAsync(&memory, bytes, pool_, stream(Queue::compute));
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // not sticky, but it would be found again after the next launch
    report_full(bytes);
  }
  check(status, "allocate " + std::to_string(bytes) + " bytes on " + name());
  memory_taken_ = true;
  return memory;
}

void CudaDevice::release(void* memory) noexcept {
  // Errors of earlier work are found by whoever waits for it.
  if (cudaSetDevice(ordinal_) != cudaSuccess) return;
  if (transfer_used_ && cudaEventRecord(crossing_, streams_[1]) == cudaSuccess)
    cudaStreamWaitEvent(streams_[0], crossing_, 0);
  transfer_used_ = false;
  cudaFreeAsync(memory, streams_[0]);
}

bool CudaDevice::can_borrow(const void* memory) const {
  constexpr std::uintptr_t alignment = 64;
  if (memory == nullptr || reinterpret_cast<std::uintptr_t>(memory) % alignment != 0) return false;
  cudaPointerAttributes found{};
  if (cudaPointerGetAttributes(&found, memory) != cudaSuccess) {
    cudaGetLastError();  // not sticky, but it would be found again after the next launch
    return false;
  }
  return found.type == cudaMemoryTypeDevice && found.device == ordinal_;
}

void* CudaDevice::allocate_outside_pool(std::size_t bytes) {
  // Smaller pieces share pages, and a page is what another process opens.
  constexpr std::size_t page = std::size_t{2} << 20;
  const std::size_t whole = (bytes + page - 1) / page * page;
  make_current();
  void* memory = nullptr;
  cudaError_t status = cudaMalloc(&memory, whole);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    synchronize(Queue::compute);
    check(cudaMemPoolTrimTo(pool_, 0), "shrink a memory pool");
    status = cudaMalloc(&memory, whole);
  }
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    report_full(whole);
  }
  check(status, "allocate " + std::to_string(whole) + " bytes on " + name());
  return memory;
}

std::unique_ptr<PeerMemory> CudaDevice::make_peer_memory() {
  make_current();
  return cuda::make_peer_memory(*this);
}

std::unique_ptr<DeviceMessages> CudaDevice::make_messages() { return make_nccl_messages(*this); }

DeviceNumber CudaDevice::number() const {
  DeviceNumber number{};
  static_assert(sizeof(number) == sizeof(properties_.uuid));
  std::memcpy(number.data(), &properties_.uuid, sizeof(number));
  return number;
}

void* CudaDevice::allocate_staging(std::size_t bytes) {
  make_current();
  void* memory = nullptr;
  const cudaError_t status = cudaHostAlloc(&memory, bytes, cudaHostAllocPortable);
  if (status != cudaSuccess) cudaGetLastError();
  check(status, "allocate " + std::to_string(bytes) + " bytes of page-locked host memory");
  return memory;
}

void CudaDevice::release_staging(void* memory) noexcept { cudaFreeHost(memory); }

void CudaDevice::copy_to_device(void* device, const void* host, std::size_t bytes, Queue queue) {
  cudaStream_t stream = this->stream(queue);
  if (pageable_.pays(host, bytes)) {
    pageable_.to_device(device, host, bytes, stream);
  } else {
    check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream), "copy to " + name());
  }
  transferred_.to_device += bytes;
}

void CudaDevice::copy_to_host(void* host, const void* device, std::size_t bytes, Queue queue) {
  cudaStream_t stream = this->stream(queue);
  if (pageable_.pays(host, bytes)) {
    pageable_.to_host(host, device, bytes, stream);
  } else {
    check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream), "copy from " + name());
  }
  transferred_.to_host += bytes;
}

void CudaDevice::make_on_device(void* device, const ByteSource& source, std::size_t bytes, Queue queue) {
  if (bytes == 0) return;
  cudaStream_t stream = this->stream(queue);
  if (!pageable_.ready()) return Device::make_on_device(device, source, bytes, queue);
  pageable_.to_device(device, source, bytes, stream);
  transferred_.to_device += bytes;
}

void CudaDevice::copy_within(void* to, const void* from, std::size_t bytes, Queue queue) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream(queue)), "copy within " + name());
}

std::unique_ptr<Event> CudaDevice::make_event() {
  make_current();
  return std::make_unique<CudaEvent>(cudaEventDefault);
}

std::unique_ptr<Event> CudaDevice::make_order_event() {
  make_current();
  return std::make_unique<CudaEvent>(cudaEventDisableTiming);
}

void CudaDevice::record(Event& event, Queue queue) {
  check(cudaEventRecord(handle_of(event), stream(queue)), "record an event");
}

void CudaDevice::wait(Queue queue, const Event& event) {
  check(cudaStreamWaitEvent(stream(queue), handle_of(event), 0), "let a queue wait for an event");
}

void CudaDevice::synchronize(const Event& event) {
  count_wait();
  check(cudaEventSynchronize(handle_of(event)), "wait for " + name());
}

void CudaDevice::synchronize(Queue queue) {
  count_wait();
  check(cudaStreamSynchronize(stream(queue)), "wait for " + name());
}

// A stream waits for what an event stands for at the time of the call, so that one event serves all crossings.
// Streams of ours do not wait for CUDA's default stream by themselves, nor it for them.
void CudaDevice::wait_for_stream(Queue queue, void* stream) {
  const cudaStream_t own = this->stream(queue);  // may need the event for a crossing of its own
  check(cudaEventRecord(crossing_, static_cast<cudaStream_t>(stream)), "record an event in another stream");
  check(cudaStreamWaitEvent(own, crossing_, 0), "let a queue wait for another stream");
}

void CudaDevice::let_stream_wait(void* stream, Queue queue) {
  check(cudaEventRecord(crossing_, this->stream(queue)), "record an event");
  check(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream), crossing_, 0), "let another stream wait");
}

bool CudaDevice::is_idle(Queue queue) const {
  const cudaError_t status = cudaStreamQuery(stream(queue));
  if (status == cudaErrorNotReady) return false;
  check(status, "wait for " + name());
  return true;
}

bool CudaDevice::has_happened(const Event& event) const {
  const cudaError_t status = cudaEventQuery(handle_of(event));
  if (status == cudaErrorNotReady) return false;
  check(status, "wait for " + name());
  return true;
}

void CudaDevice::allow_shared_memory(const void* kernel, int bytes) {
  int& allowed = shared_memory_allowed_[kernel];
  if (bytes <= allowed) return;
  make_current();
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
        "let a kernel have " + std::to_string(bytes) + " bytes of shared memory");
  allowed = bytes;
}

double CudaDevice::seconds_between(const Event& from, const Event& to) {
  count_wait();
  check(cudaEventSynchronize(handle_of(from)), "wait for " + name());
  check(cudaEventSynchronize(handle_of(to)), "wait for " + name());
  float milliseconds = 0.0F;
  check(cudaEventElapsedTime(&milliseconds, handle_of(from), handle_of(to)), "read the time between two events");
  return 1e-3 * static_cast<double>(milliseconds);
}

}  // namespace block_eigs::cuda
