#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "spmm/parallel/halo_plan.hpp"
#include "spmm/parallel/transport.hpp"
#include "spmm/types.hpp"

namespace block_eigs {

class Communicator;
class Partition;

/// The halo of a column-major block in host memory: packs the rows that neighbours need straight out of the
/// columns and hands them to a transport, whole rows of a panel of columns, one message a neighbour. begin, work
/// on own rows, finish. One exchange at a time.
class ColumnMajorHalo {
 public:
  /// `columns` deals the rows of the block to ranks; `ghosts`: global numbers, ascending, none of them own.
  /// `transport` moves blocks in host memory. Collective.
  ColumnMajorHalo(const Communicator& comm, const Partition& columns, std::span<const GlobalIndex> ghosts,
                  Transport& transport);

  /// Makes room for panels of up to `width` columns. Collective; throws on all ranks where one has no memory.
  void reserve(int width);

  /// Sends the rows that others need of `count` columns at `b`, `leading` apart, as rows of `width` numbers, zeros
  /// behind the first `count`. Collective among neighbours, with `finish`.
  void begin(const double* b, std::int64_t leading, int count, int width);
  /// Moves messages along; call it now and then while own work goes on.
  void progress() { channel_->progress(); }
  /// The ghost rows, row-major, `width` numbers each; valid until the next `begin`.
  const double* finish();

 private:
  std::shared_ptr<const HaloPlan> plan_;
  std::unique_ptr<Channel> channel_;
};

}  // namespace block_eigs
