#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "spmm/cuda/runtime/cuda_device.hpp"
#include "spmm/device/buffer.hpp"
#include "spmm/types.hpp"

namespace block_eigs::cuda {

/// Rows of one strip.
inline constexpr int strip_height = 4;

/// Runs of consecutive rows with nonzeros that are multiplied as one: their columns are united, so that a row of B
/// is loaded once for all of them. For rows whose columns are nearly the same, as those of neighbours in a dense
/// band are; where they are the same, bundles need less. In device memory; depends on the pattern alone.
struct Strips {
  LocalIndex count = 0;        ///< strips
  Offset columns_total = 0;    ///< columns of all strips
  Buffer<Offset> offsets;      ///< where the columns of a strip begin; count + 1
  Buffer<LocalIndex> columns;  ///< ascending within a strip
  /// Of each row of the strip in each of its columns: which of the strip's values that is, counted from the first,
  /// or no_source. strip_height for each column.
  Buffer<std::uint16_t> sources;
  std::vector<Offset> most_columns;  ///< in a run of 2^i strips, see most_in_runs
};

/// The row has no nonzero in that column.
inline constexpr std::uint16_t no_source = 0xffff;

/// Smaller matrices are done before strips pay.
inline constexpr Offset least_nonzeros_of_strips = 1 << 19;
/// Nonzeros a row from which on they may pay: with fewer, neighbours share little of what a product reads.
inline constexpr double least_mean_of_strips = 8.0;
/// Longer rows have lanes enough by themselves, and one thread unites a strip.
inline constexpr Offset longest_row_of_strips = 1024;
static_assert(strip_height * longest_row_of_strips < no_source);
/// Nonzeros over places for nonzeros from which on they do.
inline constexpr double least_fill_of_strips = 0.8;

/// Strips of a matrix without empty rows, none of them longer than longest_row_of_strips. Nothing where the
/// columns of a row do not ascend, or where least_fill_of_strips is not reached. Queued in Queue::compute; waits.
std::optional<Strips> find_strips(const std::shared_ptr<CudaDevice>& gpu, const Offset* row_offsets,
                                  const LocalIndex* columns, LocalIndex rows, Offset nonzeros);

}  // namespace block_eigs::cuda
