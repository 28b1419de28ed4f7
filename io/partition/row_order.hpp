#pragma once

#include <span>
#include <vector>

#include "spmm/matrix/csr_rows.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs {

/// A numbering of rows in which each rank's are consecutive, beside that of the file. Consecutive rows of a node
/// stay together; a rank has its nodes in the file's order. No rank holds the whole of it. Functions are
/// collective and throw RunError on all ranks where one lacks memory.
class RowOrder {
 public:
  /// `nodes` deals the nodes of the file, `unknowns` rows each, to ranks; `owners` has the rank that is to own
  /// each of the calling rank's.
  RowOrder(const Communicator& comm, const Partition& nodes, std::vector<int> owners, int unknowns);

  /// How rows are dealt in the file's order: what is read and written.
  const Partition& file() const { return file_; }
  /// How rows are dealt in the new order.
  const Partition& partition() const { return partition_; }
  int unknowns() const { return unknowns_; }
  /// Whether the new order is the file's, rows being dealt otherwise at most.
  bool is_of_file() const { return is_of_file_; }

  /// Rows of the square matrix in the new order, of `partition()`, from rows in the file's order, of `file()`.
  /// Sorted.
  CsrRows reordered(const CsrRows& rows) const;
  /// Own rows of `partition()` from own rows of `file()`: row-major, `columns` values a row.
  std::vector<double> reordered(const std::vector<double>& values, std::size_t columns) const;
  /// As above, with `columns` values a node.
  std::vector<double> reordered_nodes(const std::vector<double>& values, std::size_t columns) const;
  /// The way back: own rows of `file()`. T is float or double.
  template <class T>
  std::vector<T> in_file_order(const std::vector<T>& values, std::size_t columns) const;

  /// The number that a row has in the file. All ranks ask for the same row.
  GlobalIndex file_row(GlobalIndex row) const;

 private:
  std::vector<GlobalIndex> new_columns(const CsrRows& rows) const;

  Communicator comm_;
  Partition file_nodes_;
  Partition nodes_;
  Partition file_;
  Partition partition_;
  int unknowns_ = 1;
  bool is_of_file_ = true;
  std::vector<int> owners_;               ///< of own nodes in the file's order
  std::vector<GlobalIndex> new_number_;   ///< of the same
  std::vector<GlobalIndex> received_;     ///< own nodes in the new order by the rank that has them in the file's
  std::vector<GlobalIndex> file_number_;  ///< of own nodes in the new order, ascending
};

}  // namespace block_eigs
