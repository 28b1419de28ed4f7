#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "solver/multigrid/aggregation/column_numbers.hpp"
#include "spmm/device/csr_buffers.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/types.hpp"

namespace block_eigs::aggregation {

/// Some rows of a sparse matrix in host memory, with global column numbers in any order.
struct HostRows {
  std::vector<Offset> offsets{0};
  std::vector<GlobalIndex> columns;
  std::vector<double> values;

  std::size_t rows() const { return offsets.size() - 1; }
};

/// Rows [first, a.rows) of `a`.
HostRows download_rows(Device& device, const CsrView<double>& a, LocalIndex first, const ColumnNumbers& columns);

/// In device memory. `order`: which row comes where.
CsrBuffers<double> upload_rows(const std::shared_ptr<Device>& device, const HostRows& rows,
                               const std::vector<std::size_t>& order, const ColumnNumbers& columns);
/// The same as they come.
CsrBuffers<double> upload_rows(const std::shared_ptr<Device>& device, const HostRows& rows,
                               const ColumnNumbers& columns);

/// Sparse rows on their way to other ranks, many at a time.
class RowMessages {
 public:
  explicit RowMessages(int ranks)
      : heads_(static_cast<std::size_t>(ranks)), columns_(heads_.size()), values_(heads_.size()) {}

  /// Of `rows` those from `first` on, as many as there are numbers, after what is to go to `rank` already.
  void add(int rank, std::span<const GlobalIndex> numbers, const HostRows& rows, std::size_t first);
  /// What others sent here takes the place of what is to be sent. Collective.
  void exchange(const Communicator& comm);
  /// All rows, in the order of ranks, and their numbers.
  HostRows received(std::vector<GlobalIndex>& numbers) const;

 private:
  std::vector<std::vector<std::int64_t>> heads_;  ///< number and length of each row
  std::vector<std::vector<std::int64_t>> columns_;
  std::vector<std::vector<double>> values_;
};

}  // namespace block_eigs::aggregation
