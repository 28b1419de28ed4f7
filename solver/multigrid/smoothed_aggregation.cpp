#include "solver/multigrid/smoothed_aggregation.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "solver/multigrid/aggregation/aggregates.hpp"
#include "solver/multigrid/aggregation/galerkin.hpp"
#include "solver/multigrid/aggregation/interpolation.hpp"
#include "solver/multigrid/aggregation/row_exchange.hpp"
#include "solver/multigrid/aggregation/tentative.hpp"
#include "spmm/error.hpp"
#include "spmm/parallel/halo_plan.hpp"

namespace block_eigs {

namespace {

using namespace aggregation;

constexpr std::size_t most_levels = 25;
/// A level that is hardly smaller than the one before is not worth its work.
constexpr double least_reduction = 0.8;

/// A matrix in the making, and what its coarser levels must represent.
struct Stage {
  GridLevel level;
  NearNullSpace space;
};

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

ColumnNumbers number_columns(const CsrRows& a, const Partition& partition, int rank) {
  const GlobalIndex begin = partition.begin(rank);
  const GlobalIndex end = partition.end(rank);
  std::vector<GlobalIndex> others;
  for (const GlobalIndex column : a.columns) {
    if (column < begin || column >= end) others.push_back(column);
  }
  return {begin, partition.size(rank), std::move(others)};
}

struct Bounds {
  double scaled = 0.0;    ///< max_i sum_j |a_ij| / |a_ii|: no eigenvalue of D^-1 A is larger
  double diagonal = 0.0;  ///< max_i |a_ii|
};

/// Collective.
Bounds bounds_of(const Communicator& comm, const CsrRows& a) {
  double bound = 0.0;
  double largest = 0.0;
#pragma omp parallel for schedule(static) reduction(max : bound, largest)
  for (LocalIndex i = 0; i < a.rows(); ++i) {
    const auto last = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i) + 1]);
    double sum = 0.0;
    double diagonal = 0.0;
    for (auto k = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i)]); k < last; ++k) {
      sum += std::abs(a.values[k]);
      if (a.columns[k] == a.row_begin + i) diagonal = std::abs(a.values[k]);
    }
    bound = std::max(bound, sum / (diagonal > 0.0 ? diagonal : 1.0));
    largest = std::max(largest, diagonal);
  }
  return {std::max(comm.max(bound), 1e-300), comm.max(largest)};
}

/// Diagonal entries of A_c that are rounding errors of zeros, against `scale`, become zeros, which smoothers know
/// how to take: they come from parts of the matrix that have a kernel of their own. Rows without anything are
/// those of modes that an aggregate is too small to have: on the diagonal, `scale` keeps them out of everyone's
/// way.
void settle_empty_rows(CsrRows& a, double scale) {
  constexpr double noise = 1e-14;
  for (LocalIndex i = 0; i < a.rows(); ++i) {
    double sum = 0.0;
    double* diagonal = nullptr;
    const auto last = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i) + 1]);
    for (auto k = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i)]); k < last; ++k) {
      sum += std::abs(a.values[k]);
      if (a.columns[k] == a.row_begin + i) diagonal = &a.values[k];
    }
    if (diagonal != nullptr && std::abs(*diagonal) <= noise * scale) *diagonal = sum == 0.0 ? scale : 0.0;
  }
}

/// Consecutive rows as their aggregates lie on ranks.
Partition partition_of(const Communicator& comm, LocalIndex rows) {
  std::vector<GlobalIndex> offsets{0};
  for (const std::int64_t count : comm.all_gather(std::int64_t{rows})) offsets.push_back(offsets.back() + count);
  return Partition(std::move(offsets));
}

/// `partition` with neighbouring ranks' rows on the first of them, so that few rows lie on few ranks.
Partition concentrated(const Partition& partition, GlobalIndex rows_per_rank) {
  const auto ranks = static_cast<GlobalIndex>(partition.parts());
  const GlobalIndex groups = std::clamp<GlobalIndex>(partition.rows() / rows_per_rank, 1, ranks);
  std::vector<GlobalIndex> offsets{0};
  for (GlobalIndex r = 0; r < ranks; ++r) {
    // The rows of a group end with the last rank of it, and all lie on its first.
    GlobalIndex last = r;
    while (last + 1 < ranks && (last + 1) * groups / ranks == r * groups / ranks) ++last;
    offsets.push_back(partition.end(static_cast<int>(last)));
  }
  return Partition(std::move(offsets));
}

/// Values and places of the tentative interpolation, ghosts included. Collective.
TentativeRows tentative_rows(const Communicator& comm, const HaloPlan& plan, const Aggregates& aggregates,
                             int unknowns_per_node, std::vector<double> values, std::size_t modes,
                             GlobalIndex first_column) {
  TentativeRows rows;
  rows.modes = modes;
  rows.values = std::move(values);
  std::vector<double> columns;
  columns.reserve(aggregates.of_node.size() * static_cast<std::size_t>(unknowns_per_node));
  for (const LocalIndex aggregate : aggregates.of_node) {
    const GlobalIndex column =
        aggregate < 0 ? -1 : first_column + GlobalIndex{aggregate} * static_cast<GlobalIndex>(modes);
    columns.insert(columns.end(), static_cast<std::size_t>(unknowns_per_node), static_cast<double>(column));
  }
  append_ghost_values(comm, plan, modes, rows.values);
  append_ghost_values(comm, plan, 1, columns);
  rows.first_columns.assign(columns.begin(), columns.end());
  return rows;
}

/// `p` with the columns in the numbers of `coarse`.
SparseRows<LocalIndex> renumbered(const SparseRows<GlobalIndex>& p, const ColumnNumbers& coarse) {
  SparseRows<LocalIndex> result;
  result.offsets = p.offsets;
  result.values.assign(p.values.begin(), p.values.end());
  result.columns.resize(p.columns.size());
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < p.columns.size(); ++k) result.columns[k] = coarse.local(p.columns[k]);
  return result;
}

/// Own rows of p, the first ones of those given.
CsrRows interpolation_rows(SparseRows<GlobalIndex> p, LocalIndex own, const Partition& fine, GlobalIndex columns,
                           int rank) {
  CsrRows rows;
  rows.row_begin = fine.begin(rank);
  rows.global_rows = fine.rows();
  rows.global_columns = columns;
  rows.row_offsets = std::move(p.offsets);
  rows.columns = std::move(p.columns);
  rows.values = std::move(p.values);
  rows.row_offsets.resize(static_cast<std::size_t>(own) + 1);
  rows.columns.resize(static_cast<std::size_t>(rows.row_offsets.back()));
  rows.values.resize(rows.columns.size());
  return rows;
}

/// The next coarser stage; completes `stage.level` with the way to it and back. Without rows where nothing is
/// coupled strongly enough. Collective.
Stage coarsen(const Communicator& comm, Stage& stage, double threshold, GlobalIndex rows_per_rank) {
  GridLevel& level = stage.level;
  const CsrRows& a = level.matrix;
  const int rank = comm.rank();
  const auto modes = static_cast<std::size_t>(stage.space.modes);
  ColumnNumbers fine;
  Aggregates aggregates;
  Tentative tentative;
  comm.collectively([&] {
    fine = number_columns(a, level.partition, rank);
    aggregates = aggregate(strength_graph(a, stage.space.unknowns_per_node, threshold));
    tentative = tentative_interpolation(aggregates, stage.space);
  });
  const HaloPlan plan(comm, level.partition, fine.ghosts());
  const Partition natural = partition_of(comm, aggregates.count * stage.space.modes);
  const TentativeRows t = tentative_rows(comm, plan, aggregates, stage.space.unknowns_per_node,
                                         std::move(tentative.values), modes, natural.begin(rank));
  const Bounds bounds = bounds_of(comm, a);
  SparseRows<GlobalIndex> p;
  comm.collectively([&] { p = smoothed_interpolation(a, fine, t, 4.0 / 3.0 / bounds.scaled); });
  append_ghost_rows(comm, plan, p);

  GalerkinPart part;
  std::vector<GlobalIndex> row_numbers;
  comm.collectively([&] {
    std::vector<GlobalIndex> others;
    for (const GlobalIndex column : p.columns) {
      if (column < natural.begin(rank) || column >= natural.end(rank)) others.push_back(column);
    }
    const ColumnNumbers coarse(natural.begin(rank), natural.size(rank), std::move(others));
    part = galerkin_part(a, fine, renumbered(p, coarse), coarse);
    for (LocalIndex c = 0; c < coarse.all(); ++c) row_numbers.push_back(coarse.global(c));
  });
  Stage next;
  next.level.partition = concentrated(natural, rows_per_rank);
  next.level.matrix = assemble(comm, next.level.partition, natural.rows(), std::move(part.matrix), row_numbers);
  settle_empty_rows(next.level.matrix, bounds.diagonal);
  next.space = std::move(tentative.coarse);
  next.space.vectors = redistribute(comm, natural, next.level.partition, modes, next.space.vectors);
  level.restriction =
      assemble(comm, next.level.partition, level.partition.rows(), std::move(part.restriction), row_numbers);
  level.interpolation = interpolation_rows(std::move(p), fine.own(), level.partition, natural.rows(), rank);
  return next;
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
  double threshold = options.threshold;
  while (stage.level.partition.rows() > options.coarse_rows && levels.size() < most_levels) {
    Stage next = coarsen(comm, stage, threshold, options.rows_per_rank);
    const auto fine_rows = static_cast<double>(stage.level.partition.rows());
    const GlobalIndex coarse_rows = next.level.partition.rows();
    if (coarse_rows == 0 || static_cast<double>(coarse_rows) > least_reduction * fine_rows) {
      stage.level.interpolation = {};
      stage.level.restriction = {};
      break;
    }
    levels.push_back(std::move(stage.level));
    stage = std::move(next);
    threshold *= 0.5;
  }
  levels.push_back(std::move(stage.level));
  return levels;
}

}  // namespace block_eigs
