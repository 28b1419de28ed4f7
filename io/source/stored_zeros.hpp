#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "io/source/matrix_source.hpp"
#include "spmm/matrix/csr_rows.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// How many entries are zero. Not collective.
std::int64_t count_stored_zeros(const CsrRows& rows);

/// Takes them out, in place, by all threads; diagonal entries, too. Not collective.
void drop_stored_zeros(CsrRows& rows);

/// A source whose zeros are no entries, though it stores some: as sums of Kronecker products do, nearly
/// everywhere. What a matrix looks like, and what steps cost, is judged by its entries. Where they are in device
/// memory, which spares a copy, a few zeros stay.
class WithoutStoredZeros final : public MatrixSource {
 public:
  WithoutStoredZeros(const Communicator& comm, std::unique_ptr<MatrixSource> source)
      : comm_(comm), source_(std::move(source)) {}

  GlobalIndex rows() const override { return source_->rows(); }
  GlobalIndex columns() const override { return source_->columns(); }
  std::string description() const override { return source_->description(); }
  CsrRows read(const Partition& partition) override;
  DeviceEntries resident() const override { return dropped_ ? DeviceEntries{} : source_->resident(); }

 private:
  Communicator comm_;
  std::unique_ptr<MatrixSource> source_;
  bool dropped_ = false;  ///< from what was read last
};

}  // namespace block_eigs
