#pragma once

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

/// Sparse rows on their way to other ranks: of every row its number, its length and its columns, and apart from
/// these its values.
class RowMessages {
 public:
  explicit RowMessages(int ranks)
      : places_(static_cast<std::size_t>(ranks)), values_(static_cast<std::size_t>(ranks)) {}

  void add(int rank, GlobalIndex number, const HostRows& rows, std::size_t i);
  /// What others sent here takes the place of what is to be sent. Collective.
  void exchange(const Communicator& comm);
  /// All rows, in the order of ranks, and their numbers.
  HostRows received(std::vector<GlobalIndex>& numbers) const;

 private:
  std::vector<std::vector<std::int64_t>> places_;
  std::vector<std::vector<double>> values_;
};

}  // namespace block_eigs::aggregation
