#pragma once

#include <vector>

#include "spmm/matrix/csr_matrix.hpp"
#include "spmm/matrix/csr_rows.hpp"

namespace block_eigs {

/// The two parts of a rank's rows, in local column numbers.
template <class T>
struct SplitRows {
  CsrArrays<T> own;
  CsrArrays<T> boundary;
};

/// The columns of `rows` outside [begin, end), ascending, each once. Not collective, as the next one.
std::vector<GlobalIndex> ghost_columns(const CsrRows& rows, GlobalIndex begin, GlobalIndex end);

/// `rows` as two matrices: the columns [begin, end), and `ghosts`, which are ghost_columns(). May take memory of
/// `rows`, which are of no use then.
template <class T>
SplitRows<T> split(CsrRows& rows, GlobalIndex begin, GlobalIndex end, const std::vector<GlobalIndex>& ghosts);

}  // namespace block_eigs
