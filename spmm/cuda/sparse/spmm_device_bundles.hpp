#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "spmm/cuda/runtime/cuda_device.hpp"
#include "spmm/device/buffer.hpp"
#include "spmm/types.hpp"

namespace block_eigs::cuda {

/// Bundles as find_pattern() makes them (see RowBundles), in device memory.
struct DeviceBundles {
  LocalIndex count = 0;
  Offset columns_total = 0;
  Buffer<Offset> column_offsets;
  Buffer<Offset> value_offsets;
  Buffer<LocalIndex> first_rows;
  Buffer<LocalIndex> columns;
  std::vector<Offset> most_columns;  ///< in any aligned run of 2^i bundles
  std::vector<Offset> most_values;
};

/// Of a matrix in device memory that has no empty row: consecutive rows with the same columns, up to
/// bundle_rows_limit of them. Nothing where they gain less than least_gain_of_bundles. Queued in Queue::compute;
/// waits.
std::optional<DeviceBundles> find_bundles(const std::shared_ptr<CudaDevice>& gpu, const Offset* row_offsets,
                                          const LocalIndex* columns, LocalIndex rows, Offset nonzeros);

/// Largest numbers of nonzeros in runs of 1, 2, 4, ... rows, up to all of them. Waits.
std::vector<Offset> most_in_runs(const std::shared_ptr<CudaDevice>& gpu, const Offset* offsets, LocalIndex rows);

}  // namespace block_eigs::cuda
