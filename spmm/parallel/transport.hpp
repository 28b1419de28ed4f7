#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "spmm/device/device.hpp"

namespace block_eigs {

class Communicator;
class HaloPlan;

/// The way of one HaloPlan's messages: owns what they are sent from and received in. Packed rows are bytes here.
/// One round at a time: open, write the packed rows, send, receive. The buffers depend on the widest row seen
/// alone, so that both sides of a message know where it lies without talking.
class Channel {
 public:
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  virtual ~Channel() = default;

  /// Makes room for rows of up to `row_bytes`, so that `open` allocates nothing. Collective; where memory does not
  /// suffice on one rank, all throw (Communicator::collectively). Waits for the device where buffers grow.
  virtual void reserve(std::size_t row_bytes) = 0;

  /// Begins a round. Returns where the packed rows of each destination are to be written (device memory, maybe
  /// that of another rank) by work in `queue()`; that queue is put behind what is in Queue::compute now, so
  /// the rows to pack are there and nobody reads the last ghosts any more. Collective among neighbours, with
  /// `receive`.
  virtual std::span<std::byte* const> open(std::size_t row_bytes) = 0;
  /// Where rows of the open round are packed: beside what comes into Queue::compute, as a rule.
  virtual Queue queue() const { return Queue::transfer; }
  /// What is in `queue()` now has packed the rows.
  virtual void send() = 0;
  /// Moves messages along where that takes the host; call it now and then.
  virtual void progress() = 0;
  /// Ends the round: the ghost rows in device memory, ready for Queue::compute, valid until the next `open`.
  virtual const std::byte* receive() = 0;

  /// Ends a round that an exception has cut short, without its ghosts; nothing where none is open. What is under
  /// way is waited for: where all ranks give the same round up, the channel is as good as new. Where a neighbour
  /// does not answer in time, receives are cancelled, no buffer goes while MPI may use it, and from then on `open`
  /// throws RunError. `open` and the destructor do this too. Not collective.
  virtual void give_up() noexcept = 0;
};

/// Which transport is asked for: the best one, or one by name. `peer` and `nccl` take `staged` where they cannot
/// work.
enum class HaloWay { automatic, staged, peer, nccl };
/// "auto", "staged", "peer" or "nccl"; throws InputError on other names.
HaloWay halo_way_from_name(std::string_view name);

/// How packed rows get from rank to rank. A Context has one, which all matrices, levels and precisions share.
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  /// Not collective, and allocates no message buffers. The channel may outlive the transport.
  virtual std::unique_ptr<Channel> make_channel(std::shared_ptr<const HaloPlan> plan) = 0;

  /// What it is and why, for people: "peer, ...". Empty where there is nothing to say.
  virtual std::string description() const = 0;
};

/// The best transport between the ranks of `comm`, for blocks in the memory of `device`, the same one on all
/// ranks. `way` is replicated. Collective.
std::shared_ptr<Transport> make_transport(const Communicator& comm, const std::shared_ptr<Device>& device,
                                          HaloWay way = HaloWay::automatic);

}  // namespace block_eigs
