#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "solver/multigrid/smoothed_aggregation.hpp"
#include "spmm/device/sparse_algebra.hpp"
#include "spmm/matrix/grid_levels.hpp"
#include "spmm/parallel/context.hpp"

namespace block_eigs {

/// One level of a multigrid hierarchy in device memory, of one rank and in double. Without `interpolation` and
/// `restriction` on the coarsest.
struct DeviceLevel {
  CsrBuffers<double> matrix;
  std::shared_ptr<const MatrixNumbers> numbers;
  CsrBuffers<double> interpolation;
  CsrBuffers<double> restriction;
  CoarseningEnd ended = CoarseningEnd::none;  ///< on the coarsest
};

/// Finest level first, and what they were made with.
struct DeviceHierarchy {
  std::shared_ptr<SparseAlgebra> algebra;
  std::vector<DeviceLevel> levels;
};

/// NearNullSpace in device memory.
struct DeviceNearNullSpace {
  Buffer<double> vectors;  ///< row-major [rows][modes]
  int modes = 1;
  int unknowns_per_node = 1;
};

/// Told when a stage of the set-up has been put into the queue: "aggregates", say, and the level it belongs to.
/// For benches.
using SetupObserver = std::function<void(std::string_view stage, int level)>;

/// complete_near_null_space() on the device. Not collective.
DeviceNearNullSpace to_device(const Context<double>& context, const NearNullSpace& given, LocalIndex rows);

/// Levels by smoothed aggregation as the function of the same name has them, but made where the matrix is, with a
/// SparseAlgebra: nothing but counts and norms comes to the host. Aggregates are those of
/// SparseAlgebra::aggregate(). `finest` becomes the first level. For one rank; `rows_per_rank` means nothing.
/// Throws RunError where memory runs out. Not collective.
DeviceHierarchy smoothed_aggregation(std::shared_ptr<SparseAlgebra> algebra, CsrBuffers<double> finest,
                                     DeviceNearNullSpace near_null_space, const AggregationOptions& options = {},
                                     const SetupObserver& observer = {});

}  // namespace block_eigs
