#pragma once

#include <string>
#include <vector>

#include "spmm/parallel/partition.hpp"
#include "spmm/types.hpp"

namespace block_eigs {

/// A set of dense vectors that can be read by blocks of rows: start vectors, constraints, right-hand sides. Every
/// member function may be collective over the communicator that the source was opened with.
class BlockSource {
 public:
  BlockSource() = default;
  BlockSource(const BlockSource&) = delete;
  BlockSource& operator=(const BlockSource&) = delete;
  virtual ~BlockSource() = default;

  virtual GlobalIndex rows() const = 0;
  virtual GlobalIndex columns() const = 0;
  /// For people and for error messages: "/data/earlier.h5:/eigenvectors".
  virtual std::string description() const = 0;

  /// Vectors [first, first + count), row-major, own rows of `partition` x count, which has rows() rows. Throws
  /// InputError (on all ranks) that names file, dataset or line; values are finite.
  virtual std::vector<double> read(const Partition& partition, GlobalIndex first, LocalIndex count) = 0;

  /// Own rows of all vectors where they are in device memory, else without data. Not collective.
  virtual ConstBlockView<double> resident() const { return {}; }
};

}  // namespace block_eigs
