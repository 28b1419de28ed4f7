#pragma once

#include <memory>
#include <string>
#include <vector>

#include "spmm/device/csr_buffers.hpp"
#include "spmm/matrix/csr_rows.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {

/// A sparse matrix that can be read by blocks of rows: a file, or a generator. Every member function may be
/// collective over the communicator that the source was opened with, and is to be called on all its ranks.
class MatrixSource {
 public:
  MatrixSource() = default;
  MatrixSource(const MatrixSource&) = delete;
  MatrixSource& operator=(const MatrixSource&) = delete;
  virtual ~MatrixSource() = default;

  virtual GlobalIndex rows() const = 0;
  virtual GlobalIndex columns() const = 0;
  /// For people and for error messages: "/data/thermal2.h5:/A", "laplacian3d 48 x 48 x 48, 7 points".
  virtual std::string description() const = 0;

  /// The rows that `partition` gives to the calling rank, sorted, duplicates summed, indices checked.
  /// Throws InputError (on all ranks) that names file, dataset or line, what was found and what would be right.
  virtual CsrRows read(const Partition& partition) = 0;

  /// What `read` gave last, where it is in device memory as well, entry for entry. Not collective.
  virtual DeviceEntries resident() const { return {}; }
};

}  // namespace block_eigs
