#pragma once

#include <memory>
#include <vector>

#include "spmm/device/buffer.hpp"
#include "spmm/device/kernels.hpp"
#include "spmm/types.hpp"

namespace block_eigs {

/// Where the nonzeros of a sparse matrix are, in device memory: as CsrView has it. Matrices of the same pattern,
/// in double and in float, share one.
struct CsrPattern {
  LocalIndex rows = 0;
  LocalIndex columns = 0;
  Offset nonzeros = 0;
  Buffer<Offset> row_offsets;  ///< rows + 1 of them
  Buffer<LocalIndex> column_indices;

  std::size_t bytes() const {
    return row_offsets.size() * sizeof(Offset) + column_indices.size() * sizeof(LocalIndex);
  }
};

/// A sparse matrix in device memory, columns ascending in every row.
template <class T>
struct CsrBuffers {
  std::shared_ptr<const CsrPattern> pattern;
  Buffer<T> values;

  CsrView<T> view() const {
    return {pattern->rows,
            pattern->columns,
            pattern->nonzeros,
            pattern->row_offsets.data(),
            pattern->column_indices.data(),
            values.data(),
            nullptr};
  }
};

/// A rank's rows of a distributed matrix in device memory: the columns that it owns, and the ghost columns of the
/// rows that have entries there. Without `ghosts` the last two may be empty.
template <class T>
struct CsrParts {
  CsrBuffers<T> own;
  CsrBuffers<T> boundary;
  Buffer<LocalIndex> boundary_rows;  ///< local numbers of its rows, ascending
  std::vector<GlobalIndex> ghosts;   ///< global numbers of its columns, ascending
};

/// Column numbers and values of a sparse matrix in device memory that belongs to someone else, as CsrView has
/// them; null where there are none. They are read, never written to.
struct DeviceEntries {
  const LocalIndex* column_indices = nullptr;
  const void* values = nullptr;
  bool wide = true;  ///< double

  explicit operator bool() const { return column_indices != nullptr && values != nullptr; }
};

}  // namespace block_eigs
