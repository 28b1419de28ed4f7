#include "solver/multigrid/smoothed_aggregation.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "solver/multigrid/aggregation/coarsen.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

using aggregation::Stage;

constexpr std::size_t most_levels = 25;

/// The constant, for each unknown of a node, where no vectors are given.
NearNullSpace complete(const NearNullSpace& given, LocalIndex rows) {
  if (given.modes > 0) return given;
  NearNullSpace space = given;
  space.modes = given.unknowns_per_node;
  const auto width = static_cast<std::size_t>(space.modes);
  space.vectors.assign(static_cast<std::size_t>(rows) * width, 0.0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) space.vectors[i * width + i % width] = 1.0;
  return space;
}

void check(const NearNullSpace& space, LocalIndex rows) {
  require(space.unknowns_per_node >= 1 && rows % space.unknowns_per_node == 0,
          "amg: the " + std::to_string(rows) + " rows of a rank are no multiple of the " +
              std::to_string(space.unknowns_per_node) + " unknowns a node");
  require(space.vectors.size() == static_cast<std::size_t>(rows) * static_cast<std::size_t>(space.modes),
          "amg: the near-null space does not have the rows of the matrix");
}

/// Over all ranks.
double entries_of(const Communicator& comm, const GridLevel& level) {
  return comm.sum(static_cast<double>(level.matrix.nonzeros()));
}

}  // namespace

GridHierarchy smoothed_aggregation(const Communicator& comm, CsrRows rows, const Partition& partition,
                                   const NearNullSpace& near_null_space, const AggregationOptions& options) {
  GridHierarchy levels;
  Stage stage;
  comm.collectively([&] {
    stage.space = complete(near_null_space, rows.rows());
    check(stage.space, rows.rows());
  });
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
