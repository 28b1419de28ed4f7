#pragma once

#include <functional>
#include <optional>

#include "spmm/cuda/sparse/spmm_pattern.hpp"
#include "spmm/cuda/sparse/spmm_strips.hpp"
#include "spmm/device/buffer.hpp"
#include "spmm/device/kernels.hpp"

namespace block_eigs::cuda {

/// What SpmmEngine::analyse learns of one matrix, in device memory. Depends on the pattern alone.
struct CudaSpmmPlan final : SpmmPlan {
  void reserve(LocalIndex widest) override {
    if (make_room) make_room(widest);
  }

  SpmmAlgorithm algorithm = SpmmAlgorithm::automatic;  ///< as asked for
  int multiprocessors = 0;
  RowStatistics statistics;
  LocalIndex bundles = 0;
  bool bundled = false;              ///< else every row with nonzeros is a bundle of its own
  bool thick = false;                ///< as in Bundles
  std::vector<Offset> most_columns;  ///< as in SparsePattern
  std::vector<Offset> most_values;

  // As in RowBundles; empty where A's own arrays serve.
  Buffer<Offset> column_offsets;
  Buffer<Offset> value_offsets;
  Buffer<LocalIndex> first_rows;
  Buffer<LocalIndex> columns;
  Buffer<LocalIndex> targets;
  Buffer<LocalIndex> empty_targets;

  std::optional<Strips> strips;  ///< for blocks with rows of whole 16-byte pieces

  // As in MergePath and MergeTiles; the last two grow with the first product of each shape, or by `make_room`.
  Buffer<std::uint32_t> path_ends;
  Buffer<LocalIndex> path_bundles;
  Buffer<std::uint16_t> path_back;
  Buffer<char> carries;
  Buffer<unsigned> arrivals;
  std::function<void(LocalIndex)> make_room;  ///< for products of up to so many columns; none: none is needed
};

}  // namespace block_eigs::cuda
