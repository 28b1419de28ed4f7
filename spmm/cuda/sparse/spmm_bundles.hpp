#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "spmm/cuda/runtime/cuda_device.hpp"
#include "spmm/device/buffer.hpp"
#include "spmm/types.hpp"

namespace block_eigs::cuda {

/// Rows of one bundle at most. Bundles are made where consecutive rows have the same columns, as with several
/// unknowns a grid point or in dense rows: the rows of B are then loaded once for all of them.
inline constexpr int bundle_rows_limit = 4;
/// The same where rows are long and nearly all bundles would be full, as with dense blocks: thick bundles. As many
/// as a product of the tensor cores takes.
inline constexpr int thick_bundle_rows_limit = 16;
inline constexpr Offset least_mean_of_thick_bundles = 128;
inline constexpr LocalIndex least_rows_of_thick_bundles = 12;  ///< in the mean

/// Smaller matrices are done before bundles pay: there a product waits for memory, not for bandwidth.
inline constexpr Offset least_nonzeros_of_bundles = 1 << 19;
/// Nonzeros over columns to be loaded from which on bundles are made.
inline constexpr double least_gain_of_bundles = 1.3;

/// See RowBundles; in device memory.
struct Bundles {
  LocalIndex count = 0;
  bool thick = false;  ///< up to thick_bundle_rows_limit rows, else up to bundle_rows_limit
  Offset columns_total = 0;
  Buffer<Offset> column_offsets;
  Buffer<Offset> value_offsets;
  Buffer<LocalIndex> first_rows;
  Buffer<LocalIndex> columns;
  std::vector<Offset> most_columns;  ///< in a run of 2^i bundles, see most_in_runs
  std::vector<Offset> most_values;
};

/// Of a matrix in device memory that has no empty row: consecutive rows with the same columns, up to
/// one of the limits above of them; no thick bundles unless `thick_ones_too`. Nothing where they gain less than
/// least_gain_of_bundles. Queued in Queue::compute; waits.
std::optional<Bundles> find_bundles(const std::shared_ptr<CudaDevice>& gpu, const Offset* row_offsets,
                                    const LocalIndex* columns, LocalIndex rows, Offset nonzeros,
                                    bool thick_ones_too);

/// Largest numbers of nonzeros in runs of 1, 2, 4, ... rows, up to all of them; those of up to 2048 rows begin
/// anywhere, longer ones at multiples of their length. Waits.
std::vector<Offset> most_in_runs(const std::shared_ptr<CudaDevice>& gpu, const Offset* offsets, LocalIndex rows);

}  // namespace block_eigs::cuda
