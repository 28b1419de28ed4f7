#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/source/block_source.hpp"
#include "io/source/matrix_source.hpp"
#include "spmm/device/csr_buffers.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"
#include "spmm/types.hpp"

// Matrices and blocks of vectors in the memory of the calling process, as sources that the journey reads from. The
// memory belongs to someone else and must outlive them.
namespace block_eigs {

/// One-dimensional array of 32-bit or 64-bit signed integers.
struct IndexArray {
  const void* data = nullptr;
  std::size_t size = 0;
  bool wide = true;  ///< 64 bits

  GlobalIndex operator[](std::size_t i) const {
    return wide ? static_cast<const std::int64_t*>(data)[i]
                : GlobalIndex{static_cast<const std::int32_t*>(data)[i]};
  }
};

/// One-dimensional array of floats or doubles.
struct ValueArray {
  const void* data = nullptr;
  std::size_t size = 0;
  bool wide = true;  ///< double

  double operator[](std::size_t i) const {
    return wide ? static_cast<const double*>(data)[i] : double{static_cast<const float*>(data)[i]};
  }
};

/// The calling rank's rows of a sparse matrix with global column numbers from 0: in any order within a row, where
/// duplicates stand for their sum.
struct RowArrays {
  GlobalIndex columns = 0;
  IndexArray row_offsets;  ///< rows + 1
  IndexArray column_numbers;
  ValueArray values;
  DeviceEntries resident{};  ///< column numbers and values where they are in device memory as well
};

/// The partition in which every rank has as many rows as it says. Collective.
Partition partition_by_counts(const Communicator& comm, GlobalIndex own_rows);

/// A matrix whose rows are dealt already; it is read for that partition alone.
class CsrSource final : public MatrixSource {
 public:
  /// `name` is what messages call the matrix. Throws InputError on all ranks where offsets or column numbers are
  /// none. Collective.
  CsrSource(const Communicator& comm, std::string name, const RowArrays& rows, Partition partition);

  GlobalIndex rows() const override { return partition_.rows(); }
  GlobalIndex columns() const override { return rows_.columns; }
  std::string description() const override { return name_; }
  CsrRows read(const Partition& partition) override;
  DeviceEntries resident() const override { return as_read_ ? rows_.resident : DeviceEntries{}; }

 private:
  Communicator comm_;
  std::string name_;
  RowArrays rows_;
  Partition partition_;
  bool as_read_ = false;  ///< rows were in order as they are
};

/// The calling rank's rows of a block of vectors, row-major without padding.
struct BlockArray {
  GlobalIndex rows = 0;
  GlobalIndex columns = 0;
  const double* values = nullptr;            ///< in host memory
  const double* resident = nullptr;          ///< in place of `values`, in device memory
  std::function<const double*()> fetched{};  ///< of those, a copy in host memory for who cannot reach them
};

/// A block of vectors whose rows are dealt as the partition that it is read for says.
class ArrayBlockSource final : public BlockSource {
 public:
  /// Collective.
  ArrayBlockSource(const Communicator& comm, std::string name, const BlockArray& block);

  GlobalIndex rows() const override { return rows_; }
  GlobalIndex columns() const override { return block_.columns; }
  std::string description() const override { return name_; }
  std::vector<double> read(const Partition& partition, GlobalIndex first, LocalIndex count) override;
  ConstBlockView<double> resident() const override;

 private:
  Communicator comm_;
  std::string name_;
  BlockArray block_;
  GlobalIndex rows_;
};

}  // namespace block_eigs
