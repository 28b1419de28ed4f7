#include "solver/multigrid/aggregation/coarsen.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "solver/multigrid/aggregation/aggregates.hpp"
#include "solver/multigrid/aggregation/fill.hpp"
#include "solver/multigrid/aggregation/galerkin.hpp"
#include "solver/multigrid/aggregation/interpolation.hpp"
#include "solver/multigrid/aggregation/nodes.hpp"
#include "solver/multigrid/aggregation/row_exchange.hpp"
#include "solver/multigrid/aggregation/tentative.hpp"
#include "solver/multigrid/damped_diagonal.hpp"
#include "spmm/parallel/halo_plan.hpp"

namespace block_eigs::aggregation {

namespace {

/// A level that is hardly smaller than the one before is not worth its work.
constexpr double least_reduction = 0.8;
/// Parts of a coarse matrix on all ranks together may have so many times the entries of their sum.
constexpr double overlap = 4.0;

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
  double scaled = 0.0;    ///< no eigenvalue of D^-1 A is larger, D as damped_diagonal() has it
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
    if (sum > 0.0) bound = std::max(bound, sum / damped_diagonal(diagonal, sum));
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

/// Whether rows of P reach so many aggregates that P^T A P is worth an estimate: else the product costs little,
/// and what it came to is looked at afterwards. On meshes it is not. Collective.
bool may_fill(const Communicator& comm, const SparseRows<LocalIndex>& p, std::size_t modes) {
  constexpr double few = 8.0;
  constexpr double many = 64.0;
  std::size_t longest = 0;
  for (LocalIndex i = 0; i < p.rows(); ++i) longest = std::max<std::size_t>(longest, p.end(i) - p.begin(i));
  const double mean = static_cast<double>(p.columns.size()) / std::max<double>(p.rows(), 1.0);
  const auto aggregates = static_cast<double>(modes);
  return comm.any(mean > few * aggregates || static_cast<double>(longest) > many * aggregates);
}

/// `width` consecutive rows for each one of `partition`.
Partition widened(const Partition& partition, int width) {
  std::vector<GlobalIndex> offsets = partition.offsets();
  for (GlobalIndex& offset : offsets) offset *= width;
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
                             int unknowns_per_node, std::vector<double> values, std::size_t modes) {
  TentativeRows rows;
  rows.modes = modes;
  rows.values = std::move(values);
  comm.collectively([&] {
    rows.first_columns.reserve(aggregates.of_node.size() * static_cast<std::size_t>(unknowns_per_node));
    for (const GlobalIndex aggregate : aggregates.of_node) {
      const GlobalIndex column = aggregate < 0 ? -1 : aggregate * static_cast<GlobalIndex>(modes);
      rows.first_columns.insert(rows.first_columns.end(), static_cast<std::size_t>(unknowns_per_node), column);
    }
  });
  append_ghost_values(comm, plan, modes, rows.values);
  append_ghost_values(comm, plan, 1, rows.first_columns);
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

/// P, and what it is made from.
struct Interpolation {
  ColumnNumbers fine;            ///< of the rows of A
  Partition coarse;              ///< of the columns of P, as the aggregates lie on ranks
  SparseRows<GlobalIndex> rows;  ///< own ones, then those of ghosts
  NearNullSpace coarse_space;
  double largest_diagonal = 0.0;
};

/// There are no couplings, or hardly any.
bool hardly_coarser(const Partition& coarse, const Partition& fine) {
  return coarse.rows() == 0 ||
         static_cast<double>(coarse.rows()) > least_reduction * static_cast<double>(fine.rows());
}

/// Ends with the columns where they are hardly_coarser. Collective.
Interpolation interpolate(const Communicator& comm, const Stage& stage, const CoarseningOptions& options) {
  const CsrRows& a = stage.level.matrix;
  const Partition& partition = stage.level.partition;
  const auto modes = static_cast<std::size_t>(stage.space.modes);
  const double per_row = comm.sum(static_cast<double>(a.nonzeros())) / static_cast<double>(partition.rows());
  const int unknowns = stage.space.unknowns_per_node;
  const Nodes nodes = nodes_of(comm, a, partition, unknowns);
  const Aggregates aggregates =
      aggregate(comm, nodes, strength_graph(comm, a, nodes, options.threshold, hub_factor * per_row));
  Interpolation result;
  result.coarse = widened(aggregates.partition, stage.space.modes);
  if (hardly_coarser(result.coarse, partition)) return result;
  Tentative tentative = tentative_interpolation(comm, aggregates, stage.space);
  comm.collectively([&] { result.fine = number_columns(a, partition, comm.rank()); });
  const HaloPlan plan(comm, partition, result.fine.ghosts());
  const TentativeRows t = tentative_rows(comm, plan, aggregates, unknowns, std::move(tentative.values), modes);
  const Bounds bounds = bounds_of(comm, a);
  comm.collectively([&] {
    result.rows = smoothed_interpolation(a, result.fine, t, 4.0 / 3.0 / bounds.scaled, aggregates.is_hub);
  });
  append_ghost_rows(comm, plan, result.rows);
  result.coarse_space = std::move(tentative.coarse);
  result.largest_diagonal = bounds.diagonal;
  return result;
}

/// Numbers of the columns of `p`.
ColumnNumbers coarse_columns(const SparseRows<GlobalIndex>& p, const Partition& coarse, int rank) {
  std::vector<GlobalIndex> others;
  for (const GlobalIndex column : p.columns) {
    if (column < coarse.begin(rank) || column >= coarse.end(rank)) others.push_back(column);
  }
  return {coarse.begin(rank), coarse.size(rank), std::move(others)};
}

}  // namespace

CoarseningEnd coarsen(const Communicator& comm, Stage& stage, const CoarseningOptions& options, Stage& next) {
  GridLevel& level = stage.level;
  const int rank = comm.rank();
  Interpolation p = interpolate(comm, stage, options);
  if (hardly_coarser(p.coarse, level.partition)) return CoarseningEnd::rows;
  ColumnNumbers coarse;
  SparseRows<LocalIndex> local;
  Fill fill;
  comm.collectively([&] {
    coarse = coarse_columns(p.rows, p.coarse, rank);
    local = renumbered(p.rows, coarse);
  });
  if (may_fill(comm, local, static_cast<std::size_t>(stage.space.modes))) {
    comm.collectively([&] {
      fill = estimated_fill(level.matrix, p.fine, local, coarse,
                            {stage.space.unknowns_per_node, static_cast<std::size_t>(stage.space.modes)});
    });
  }
  // Ranks add to the same rows: what each has for rows of its own is less than the whole, all parts are more.
  if (comm.sum(fill.own) > options.most_entries) return CoarseningEnd::fill;
  if (comm.sum(fill.own + fill.others) > overlap * options.most_entries) return CoarseningEnd::fill;

  GalerkinPart part;
  std::vector<GlobalIndex> row_numbers;
  comm.collectively([&] {
    part = galerkin_part(level.matrix, p.fine, local, coarse);
    local = {};
    for (LocalIndex c = 0; c < coarse.all(); ++c) row_numbers.push_back(coarse.global(c));
  });
  next.level.partition = concentrated(p.coarse, options.rows_per_rank);
  next.level.matrix = assemble(comm, next.level.partition, p.coarse.rows(), std::move(part.matrix), row_numbers);
  if (comm.sum(static_cast<double>(next.level.matrix.nonzeros())) > options.most_entries)
    return CoarseningEnd::fill;
  settle_empty_rows(next.level.matrix, p.largest_diagonal);
  next.space = std::move(p.coarse_space);
  next.space.vectors = redistribute(comm, p.coarse, next.level.partition,
                                    static_cast<std::size_t>(stage.space.modes), std::move(next.space.vectors));
  level.restriction =
      assemble(comm, next.level.partition, level.partition.rows(), std::move(part.restriction), row_numbers);
  comm.collectively([&] {
    level.interpolation =
        interpolation_rows(std::move(p.rows), p.fine.own(), level.partition, p.coarse.rows(), rank);
  });
  return CoarseningEnd::none;
}

}  // namespace block_eigs::aggregation
