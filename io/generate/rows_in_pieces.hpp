#pragma once

#include <functional>

#include "spmm/matrix/csr_rows.hpp"

namespace block_eigs {

/// Appends rows begin .. end - 1 to `out`; called by several threads at once, each with an `out` of its own.
using AppendRows = std::function<void(GlobalIndex begin, GlobalIndex end, CsrRows& out)>;

/// Sets rows begin .. end - 1 in `out`, which has none: every thread makes a piece, and all are put together.
/// Not collective.
void set_rows_in_pieces(GlobalIndex begin, GlobalIndex end, const AppendRows& append, CsrRows& out);

}  // namespace block_eigs
