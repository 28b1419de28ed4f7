#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace block_eigs {

class DeviceMessages;
class PeerMemory;

enum class Backend { automatic, host, cuda };

/// Two in-order queues: kernels run on `compute`, halo packing and copies on `transfer`.
enum class Queue { compute, transfer };

/// A point in a queue. Made by Device::make_event, used with that device alone.
class Event {
 public:
  virtual ~Event() = default;
};

/// What made host and device meet since the start: bytes that crossed between their memories, and how often the
/// calling thread waited for the device. Always 0 on the host backend.
struct TransferCount {
  std::size_t to_device = 0;
  std::size_t to_host = 0;
  std::size_t host_waits = 0;
};

struct MemoryInfo {
  std::size_t total = 0;
  std::size_t free = 0;
  /// With the most that this process has had at a time, to this moment; 0 where the device keeps no count of that.
  std::size_t least_free = 0;
};

/// Writes bytes begin .. begin + count - 1 of what is on its way to a device to `to`. Called by several threads at
/// once, for parts that begin at multiples of 64; throws nothing.
using ByteSource = std::function<void(char* to, std::size_t begin, std::size_t count)>;

/// to[0 .. count) = the bytes from `begin` on, by all threads.
void fill_in_parts(char* to, const ByteSource& source, std::size_t begin, std::size_t count);

/// Memory, copies and order: what a backend is. Nothing here is collective. On the host backend
/// queues run at once, so events and waits cost nothing. Functions throw RunError on device failure.
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  virtual Backend backend() const = 0;
  /// For people: "host, 2 threads" or "NVIDIA H200, device 0".
  virtual std::string name() const = 0;
  virtual MemoryInfo memory() const = 0;
  /// True where host code may read and write device memory through its pointer.
  bool host_addressable() const { return backend() == Backend::host; }

  /// At least 64-byte aligned, contents undefined. Throws RunError that states the bytes asked for and free.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  /// Host memory that copies to and from the device at full speed (page-locked where that matters).
  virtual void* allocate_staging(std::size_t bytes) = 0;
  virtual void release_staging(void* memory) noexcept = 0;

  /// Whether this is device memory that somebody else in the process has taken, aligned as `allocate` does it. On
  /// the host backend it never is: others' memory need not be aligned, nor placed for its threads.
  virtual bool can_borrow(const void* memory) const { return static_cast<void>(memory), false; }

  /// Copies are ordered in their queue. `host` memory must stay valid until the queue gets there;
  /// from pageable memory the call may block until the copy is done.
  virtual void copy_to_device(void* device, const void* host, std::size_t bytes, Queue queue) = 0;
  virtual void copy_to_host(void* host, const void* device, std::size_t bytes, Queue queue) = 0;
  /// As copy_to_device, of bytes that all threads make on the way, a piece while earlier ones travel, so that they
  /// are in host memory in their last form at no time. Returns when `source` is not needed any more.
  virtual void make_on_device(void* device, const ByteSource& source, std::size_t bytes, Queue queue);
  virtual void copy_within(void* to, const void* from, std::size_t bytes, Queue queue) = 0;

  virtual std::unique_ptr<Event> make_event() = 0;
  /// One that queues wait for and nobody measures time with: it holds a queue up for less.
  virtual std::unique_ptr<Event> make_order_event() { return make_event(); }
  virtual void record(Event& event, Queue queue) = 0;
  /// What is put into `queue` from now on starts after `event`.
  virtual void wait(Queue queue, const Event& event) = 0;
  /// Blocks the calling thread.
  virtual void synchronize(const Event& event) = 0;
  virtual void synchronize(Queue queue) = 0;
  /// Seconds from one recorded event to a later one; blocks until both have happened.
  virtual double seconds_between(const Event& from, const Event& to) = 0;

  virtual TransferCount transferred() const { return {}; }

  /// Memory that other processes of this node reach; null where the backend or its driver has none. Throws
  /// RunError that says why where there could be some.
  virtual std::unique_ptr<PeerMemory> make_peer_memory();
  /// Messages to devices of other processes. Throws RunError that says why there are none.
  virtual std::unique_ptr<DeviceMessages> make_messages();

  /// Order with the work of another library on the same device. `stream` is that library's own queue: a
  /// cudaStream_t on the CUDA backend, null being CUDA's default stream. On the host backend nothing is to be
  /// done. What is put into `queue` from now on starts after all that is in `stream` now.
  virtual void wait_for_stream(Queue queue, void* stream) { static_cast<void>(queue), static_cast<void>(stream); }
  /// What is put into `stream` from now on starts after all that is in `queue` now.
  virtual void let_stream_wait(void* stream, Queue queue) { static_cast<void>(stream), static_cast<void>(queue); }
};

/// The backend that `backend` asks for; `automatic` takes a GPU where there is one, else the host.
/// Rank `node_rank` of a node takes GPU node_rank modulo the number of GPUs.
/// Throws InputError when CUDA is asked for and this build has none, no GPU is there, or it is too old.
std::shared_ptr<Device> make_device(Backend backend, int node_rank);
/// The same, but for a library that is called again and again: of a GPU, queues and page-locked memory are made
/// once in a process, and wait for the next call when nobody uses them; memory of the GPU goes back then. For one
/// thread at a time.
std::shared_ptr<Device> kept_device(Backend backend, int node_rank);

/// "auto", "host" or "cuda"; throws InputError on other names.
Backend backend_from_name(std::string_view name);
const char* name_of(Backend backend);

}  // namespace block_eigs
