#include "spmm/host/sparse/locality.hpp"

#include <algorithm>

namespace block_eigs::host {

namespace {

/// Columns so far apart count as beside each other.
constexpr LocalIndex reach = 8;
constexpr LocalIndex rows_sampled = 2048;

}  // namespace

Fetch fetching_for(const Offset* row_offsets, const LocalIndex* column_indices, LocalIndex rows) {
  const LocalIndex step = std::max(rows / rows_sampled, 1);
  Offset seen = 0;
  Offset near = 0;
  for (LocalIndex row = 1; row < rows; row += step) {
    const LocalIndex* before = column_indices + row_offsets[row - 1];
    const LocalIndex* const end = column_indices + row_offsets[row];
    for (Offset k = row_offsets[row]; k < row_offsets[row + 1]; ++k) {
      const LocalIndex column = column_indices[k];
      while (before != end && *before < column - reach) ++before;
      near += before != end && *before <= column + reach ? 1 : 0;
      ++seen;
    }
  }
  return 10 * near > 9 * seen ? Fetch::last_of_row : Fetch::every_row;
}

}  // namespace block_eigs::host
