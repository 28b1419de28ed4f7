#include "solver/multigrid/smoothed_aggregation.hpp"

#include <algorithm>
#include <utility>

#include "solver/multigrid/aggregation/coarsen.hpp"
#include "solver/multigrid/near_null_space.hpp"

namespace block_eigs {

namespace {

using aggregation::Stage;

constexpr std::size_t most_levels = 25;

/// Over all ranks.
double entries_of(const Communicator& comm, const GridLevel& level) {
  return comm.sum(static_cast<double>(level.matrix.nonzeros()));
}

}  // namespace

GridHierarchy smoothed_aggregation(const Communicator& comm, CsrRows rows, const Partition& partition,
                                   const NearNullSpace& near_null_space, const AggregationOptions& options) {
  GridHierarchy levels;
  Stage stage;
  comm.collectively([&] { stage.space = complete_near_null_space(near_null_space, rows.rows()); });
  stage.level.partition = partition;
  stage.level.matrix = std::move(rows);
  double entries = entries_of(comm, stage.level);
  double left = (options.operator_complexity - 1.0) * entries;
  double threshold = options.threshold;
  while (stage.level.partition.rows() > options.coarse_rows && levels.size() < most_levels) {
    Stage next;
    const double most_entries = std::min(left, options.level_growth * entries);
    stage.level.ended = coarsen(comm, stage, {threshold, options.rows_per_rank, most_entries}, next);
    if (stage.level.ended != CoarseningEnd::none) break;
    levels.push_back(std::move(stage.level));
    stage = std::move(next);
    entries = entries_of(comm, stage.level);
    left -= entries;
    threshold *= 0.5;
  }
  levels.push_back(std::move(stage.level));
  return levels;
}

}  // namespace block_eigs
