#pragma once

#include <vector>

#include "spmm/device/kernels.hpp"

namespace block_eigs::cuda {

/// Rows of one bundle at most. Bundles are made where consecutive rows have the same columns, as with several
/// unknowns a grid point or in dense rows: the rows of B are then loaded once for all of them.
inline constexpr int bundle_rows_limit = 4;

/// Smaller matrices are done before bundles pay: there a product waits for memory, not for bandwidth.
inline constexpr Offset least_nonzeros_of_bundles = 1 << 19;
/// Nonzeros over columns to be loaded from which on bundles are made.
inline constexpr double least_gain_of_bundles = 1.3;

/// Lengths of the rows of A that have nonzeros.
struct RowStatistics {
  LocalIndex rows = 0;  ///< with nonzeros
  LocalIndex empty_rows = 0;
  Offset nonzeros = 0;
  double mean = 0.0;
  double spread = 0.0;  ///< standard deviation over mean
  Offset longest = 0;
  Offset columns_total = 0;  ///< nonzeros, those of a bundle counted once
};

/// What is known of the pattern of A before the first product, in host memory. Arrays as in RowBundles and
/// MergePath; those that A's own arrays can stand in for are empty.
struct SparsePattern {
  RowStatistics statistics;
  bool worth_bundling = false;  ///< many rows are like the one before, and none is in a bundle yet
  bool bundled = false;
  std::vector<Offset> column_offsets;
  std::vector<Offset> value_offsets;
  std::vector<LocalIndex> first_rows;
  std::vector<LocalIndex> columns;
  std::vector<LocalIndex> targets;
  std::vector<LocalIndex> empty_targets;
  /// Most columns and values in any aligned run of 2^i bundles.
  std::vector<Offset> most_columns;
  std::vector<Offset> most_values;
};

template <class T>
SparsePattern find_pattern(const CsrView<T>& host);

}  // namespace block_eigs::cuda
