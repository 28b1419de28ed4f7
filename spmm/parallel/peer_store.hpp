#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "spmm/device/peer_memory.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// Where a piece of memory is for another process.
struct RemotePlace {
  MemoryHandle memory{};
  std::uint64_t offset = 0;  ///< in bytes
};

/// What the channels of a peer transport share: this rank's memory that others write into, and the memory of
/// others that this rank has opened. All of it stays until the store goes: what channels return is taken again by
/// others, flags never are, so that what a neighbour does late harms nobody.
class PeerStore {
 public:
  /// Memory that others write into; `bytes` is 0 where there is none.
  struct Block {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
  };
  /// A flag of this rank that others set.
  struct Flag {
    std::uint64_t* here = nullptr;
    RemotePlace place;
  };

  /// `memory` is that of `device`. Duplicates the communicator: collective.
  PeerStore(const Communicator& comm, std::shared_ptr<Device> device, std::unique_ptr<PeerMemory> memory,
            std::chrono::duration<double> patience);
  PeerStore(const PeerStore&) = delete;
  PeerStore& operator=(const PeerStore&) = delete;
  /// Closes what it has opened, and releases memory once all others have done so: waits for them for a second at
  /// most, then leaves the memory to the process's end. Not collective.
  ~PeerStore();

  /// At least `bytes`. Nobody writes into it or reads it any more. Throws RunError.
  Block take(std::size_t bytes);
  void give_back(Block block) noexcept;
  RemotePlace place_of(const Block& block);
  /// A flag that nobody had before; it is 0.
  Flag new_flag();
  /// That place for this rank's kernels and queues. Throws RunError.
  std::byte* reach(const RemotePlace& place);

  const Communicator& comm() const { return *comm_; }
  Device& device() { return *device_; }
  PeerMemory& memory() { return *memory_; }
  std::chrono::duration<double> patience() const { return patience_; }

  /// After an exchange that a neighbour did not answer queues may wait for good: nothing is waited for any more.
  void break_off() noexcept { broken_ = true; }

 private:
  Block allocate(std::size_t bytes);
  bool all_have_closed() noexcept;
  void close_all() noexcept;

  std::unique_ptr<Communicator> comm_;
  std::shared_ptr<Device> device_;
  std::unique_ptr<PeerMemory> memory_;
  std::chrono::duration<double> patience_;
  std::vector<Block> all_;
  std::vector<Block> idle_;
  std::map<MemoryHandle, std::byte*> opened_;
  std::map<std::byte*, MemoryHandle> handles_;
  Block page_{};  ///< of flags, the first `flags_` of which are taken
  std::size_t flags_ = 0;
  bool broken_ = false;
};

}  // namespace block_eigs
