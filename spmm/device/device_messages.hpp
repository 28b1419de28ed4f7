#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "spmm/device/device.hpp"
#include "spmm/device/peer_memory.hpp"

namespace block_eigs {

/// Messages between the devices of several processes, on whatever nodes, that queues send and receive by
/// themselves. Made by Device::make_messages and used with that device alone, which must outlive it. Functions
/// that are not noexcept throw RunError.
class DeviceMessages {
 public:
  /// What processes find each other by. Plain bytes, to be sent to them.
  using Meeting = std::array<std::byte, 128>;

  /// Device memory that goes to process `process` or comes from there. What two processes send each other is
  /// received in the order of the calls.
  struct Message {
    void* data = nullptr;
    std::size_t bytes = 0;
    int process = 0;
  };

  DeviceMessages() = default;
  DeviceMessages(const DeviceMessages&) = delete;
  DeviceMessages& operator=(const DeviceMessages&) = delete;
  /// Ends what is under way.
  virtual ~DeviceMessages() = default;

  /// The library and its version.
  virtual std::string name() const = 0;
  /// The device, by a number that no other one has.
  virtual DeviceNumber device_number() const = 0;

  /// To be called by one process, whose result all take.
  virtual Meeting make_meeting() = 0;
  /// Waits for all `processes`, of which this is number `process`, for a minute at most. Once.
  virtual void connect(const Meeting& meeting, int process, int processes) = 0;

  /// Puts messages into `queue`, none of which waits for another one of the same call. The processes that are
  /// named make calls that fit. Waits for nothing, but for the first messages to a process, which make the way
  /// there: for `patience` at most, then nothing can be sent any more.
  virtual void exchange(std::span<const Message> sent, std::span<const Message> received, Queue queue,
                        std::chrono::duration<double> patience) = 0;
  /// Throws where what is under way has failed, here or in another process. Waits for nothing.
  virtual void check() = 0;
  /// Whether all that was put into queues is done.
  virtual bool all_done() = 0;
  /// Ends what is under way, so that queues go on; nothing can be sent from then on.
  virtual void abandon() noexcept = 0;
};

}  // namespace block_eigs
