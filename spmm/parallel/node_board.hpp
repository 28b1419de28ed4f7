#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "spmm/device/shared_memory.hpp"

namespace block_eigs {

/// Memory that the ranks of one node share, for short messages of all to all: every rank writes its part into a
/// slot of its own and raises a counter, and reads the parts of the others when their counters are there. That
/// takes about half as long as a collective call of MPI at its best. Slots are used in turn: who writes a part has
/// seen the counters of all others for the part before, so that all have read the one before that. Used from one
/// thread, by all ranks in the same order.
class NodeBoard {
 public:
  /// For the ranks of `comm`; null on all of them where they are not on one node or one of them does not reach the
  /// memory. Collective.
  static std::shared_ptr<NodeBoard> make(MPI_Comm comm);

  /// Bytes that a part may have.
  static constexpr std::size_t capacity = std::size_t{64} << 10;

  using Take = std::function<void(std::span<const std::byte> part)>;
  /// Hands the parts of all ranks to `take`, in rank order; each is as long as `mine`, which is copied before.
  /// Moves MPI's messages along while it waits. Collective.
  void gather(std::span<const std::byte> mine, const Take& take);

  NodeBoard(const NodeBoard&) = delete;
  NodeBoard& operator=(const NodeBoard&) = delete;

 private:
  NodeBoard(MPI_Comm comm, int rank, int ranks, SharedMemory memory)
      : comm_(comm), rank_(rank), ranks_(ranks), memory_(std::move(memory)) {}

  void await(int rank) const;
  std::uint64_t& counter(int rank) const;
  std::byte* slot(int rank) const;

  MPI_Comm comm_;  ///< of the communicator that owns this
  int rank_;
  int ranks_;
  SharedMemory memory_;
  std::uint64_t round_ = 0;
};

}  // namespace block_eigs
