#pragma once

#include <vector>

#include "spmm/matrix/distributed_matrix.hpp"
#include "spmm/types.hpp"

namespace block_eigs {

/// Entries of a rank's rows in host memory, a list item each. Those of a row need not be in order.
struct MatrixEntries {
  std::vector<LocalIndex> rows;  ///< local numbers
  std::vector<GlobalIndex> columns;
  std::vector<double> values;

  std::size_t size() const { return values.size(); }
};

/// Of own rows [first, first + count). Not collective.
template <class T>
MatrixEntries copied_entries(const DistributedMatrix<T>& matrix, LocalIndex first, LocalIndex count);

}  // namespace block_eigs
