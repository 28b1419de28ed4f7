#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "spmm/device/device.hpp"

namespace block_eigs {

/// What another process of this node opens memory by. Plain bytes, to be sent to it.
using MemoryHandle = std::array<std::byte, 64>;

/// Two devices of a node never have the same one.
using DeviceNumber = std::array<std::int64_t, 2>;

/// A flag in device memory, maybe that of another process, and the value that it is set to or waited for. Values
/// of a flag only grow.
struct Signal {
  std::uint64_t* flag = nullptr;
  std::uint64_t value = 0;
};

/// Memory of a device that kernels and queues of other processes on this node write into, and flags by which they
/// say so. Made by Device::make_peer_memory and used with that device alone, which must outlive it. Nothing here
/// is collective. Functions that are not noexcept throw RunError.
class PeerMemory {
 public:
  PeerMemory() = default;
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;
  virtual ~PeerMemory() = default;

  /// The device, by a number that is the same in all processes of the node.
  virtual DeviceNumber device_number() const = 0;

  /// Pieces that memory is best taken in, in bytes.
  virtual std::size_t granularity() const = 0;
  /// Device memory, all zero, apart from what Device::allocate gives out; may wait for the device.
  virtual void* allocate(std::size_t bytes) = 0;
  /// Waits for the device, and for good where a queue waits for a flag that nobody sets. Others should have closed
  /// it before.
  virtual void release(void* memory) noexcept = 0;

  virtual MemoryHandle handle_of(void* memory) = 0;
  /// Memory that another process has allocated, for this device's kernels and queues. Throws where the two devices
  /// do not reach each other. Once a handle.
  virtual void* open(const MemoryHandle& handle) = 0;
  virtual void close(void* opened) noexcept = 0;

  /// Sets flags when the queue gets there. Whoever sees a flag's value sees all that was written before it in the
  /// queue, into whichever memory.
  virtual void set(std::span<const Signal> signals, Queue queue) = 0;
  /// What is put into `queue` from now on starts when all flags have reached their values. Keeps neither the
  /// calling thread nor any multiprocessor busy, but for the host backend, whose queues run at once: there the
  /// calling thread waits. The flags are in this device's own memory.
  virtual void wait(std::span<const Signal> signals, Queue queue) = 0;
  /// Called now and then by a thread that waits.
  virtual void while_waiting(const std::function<void()>& call) { static_cast<void>(call); }
  /// The flag's value now, past all queues. Blocks the calling thread for some microseconds.
  virtual std::uint64_t read(const std::uint64_t* flag) = 0;
};

}  // namespace block_eigs
