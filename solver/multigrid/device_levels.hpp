#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "solver/multigrid/aggregation/local_rows.hpp"
#include "solver/multigrid/smoothed_aggregation.hpp"
#include "spmm/device/sparse_algebra.hpp"
#include "spmm/matrix/distributed_matrix.hpp"
#include "spmm/matrix/grid_levels.hpp"
#include "spmm/parallel/context.hpp"

namespace block_eigs {

/// One level of a multigrid hierarchy in device memory, of own rows and in double. Without `interpolation` and
/// `restriction` on the coarsest.
struct DeviceLevel {
  Partition partition;
  aggregation::LocalRows matrix;
  std::shared_ptr<const MatrixNumbers> numbers;
  aggregation::LocalRows interpolation;
  aggregation::LocalRows restriction;
  GlobalIndex nonzeros = 0;                   ///< of the matrix, on all ranks
  CoarseningEnd ended = CoarseningEnd::none;  ///< on the coarsest
};

/// Finest level first, and what they were made with.
struct DeviceHierarchy {
  std::shared_ptr<SparseAlgebra> algebra;
  std::vector<DeviceLevel> levels;
};

/// NearNullSpace in device memory.
struct DeviceNearNullSpace {
  Buffer<double> vectors;  ///< row-major [own rows][modes]
  int modes = 1;
  int unknowns_per_node = 1;
};

/// Told when a stage of the set-up has been put into the queue: "aggregates", say, and the level it belongs to.
/// For benches.
using SetupObserver = std::function<void(std::string_view stage, int level)>;

/// complete_near_null_space() on the device. Not collective.
DeviceNearNullSpace to_device(const Context<double>& context, const NearNullSpace& given, LocalIndex rows);

/// Levels by smoothed aggregation for A - shift I, made where A is with its backend's SparseAlgebra. What comes to
/// the host are counts and norms, and what ranks hand each other beyond vectors: rows at their boundaries, and
/// levels that move to fewer ranks. On a GPU these move where they have fewer than 1024 rows a rank, so that a
/// small one is whole on one rank. Nothing of A is changed or kept but its pattern. Collective; what it throws is
/// OnAllRanks: RunError where memory runs out.
DeviceHierarchy smoothed_aggregation(const Context<double>& context, const DistributedMatrix<double>& a,
                                     double shift, DeviceNearNullSpace near_null_space,
                                     const AggregationOptions& options = {}, const SetupObserver& observer = {});

/// In host memory, for a cycle in whatever precision. Collective.
GridHierarchy to_host(const Context<double>& context, const DeviceHierarchy& hierarchy);

}  // namespace block_eigs
