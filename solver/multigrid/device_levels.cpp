#include "solver/multigrid/device_levels.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "solver/multigrid/aggregation/level_smoothing.hpp"
#include "solver/multigrid/aggregation/level_tentative.hpp"
#include "solver/multigrid/aggregation/node_ranks.hpp"
#include "solver/multigrid/aggregation/partitions.hpp"
#include "solver/multigrid/near_null_space.hpp"

namespace block_eigs {

namespace {

using aggregation::LocalRows;
using aggregation::NodeRanks;
using aggregation::RowMoving;

struct Allowance {
  double entries = 0.0;    ///< of the next level
  double threshold = 0.0;  ///< of strong couplings
  GlobalIndex rows_per_rank = 0;
};

/// What the next coarser level is to be made of.
struct Stage {
  DeviceLevel level;
  DeviceNearNullSpace space;
};

/// What leads to the next level, in the numbers of its aggregates as they lie on ranks.
struct Ways {
  Partition coarse;
  aggregation::RowsAndGhosts interpolation;  ///< P
  CsrBuffers<double> restriction;            ///< what this rank adds to R = P^T, rows as the columns of P
  Buffer<double> coarse_vectors;             ///< [own aggregates * modes][modes]
};

/// Nodes with more entries a row than so many times the average are hubs.
constexpr double hub_factor = 10.0;
/// A level that is hardly smaller than the one before is not worth its work.
constexpr double least_reduction = 0.8;
/// Parts of a coarse matrix on all ranks together may have so many times the entries of their sum.
constexpr double overlap = 4.0;
constexpr LocalIndex most_samples = 128;
constexpr double diagonal_noise = 1e-14;
constexpr std::size_t most_levels = 25;
/// On a GPU less work than this takes its launches.
constexpr GlobalIndex least_rows_of_a_gpu = 1024;

/// Makes levels, and tells of each stage. Everything is collective.
class Coarsening {
 public:
  Coarsening(RowMoving by, const SetupObserver& observer) : by_(std::move(by)), observer_(observer) {}

  /// Numbers of a new level.
  void measure(DeviceLevel& level, int number, int unknowns);
  CoarseningEnd coarsen(Stage& stage, const Allowance& allowance, Stage& next);

 private:
  const Communicator& comm() const { return by_.comm(); }
  SparseAlgebra& algebra() const { return *by_.algebra; }
  void tell(std::string_view stage) const {
    if (observer_) observer_(stage, level_);
  }
  std::optional<Ways> ways(const Stage& stage, double threshold);
  bool has_hubs(const DeviceLevel& level, double hub_entries);
  bool fills(const CsrView<double>& a, const Ways& ways, int modes, double most_entries);
  std::optional<LocalRows> product(const CsrView<double>& a, const Ways& ways, double most_entries);
  void take_next(Stage& stage, Ways ways, LocalRows product, GlobalIndex rows_per_rank, Stage& next);

  RowMoving by_;
  const SetupObserver& observer_;
  int level_ = 0;
  std::unique_ptr<NodeRanks> ranks_;  ///< of the nodes of the level in the making
};

void Coarsening::measure(DeviceLevel& level, int number, int unknowns) {
  level_ = number;
  Partition nodes;
  std::vector<GlobalIndex> ghosts;
  comm().collectively([&] {
    nodes = aggregation::narrowed(level.partition, unknowns);
    for (const GlobalIndex ghost : level.matrix.columns.ghosts()) {
      if (ghost % unknowns == 0) ghosts.push_back(ghost / unknowns);
    }
  });
  ranks_ = std::make_unique<NodeRanks>(by_.context, nodes, ghosts);
  level.nonzeros = comm().sum(std::int64_t{level.matrix.matrix.pattern->nonzeros});
  level.numbers = std::make_shared<const MatrixNumbers>(algebra().numbers(level.matrix.view(), *ranks_));
  tell("numbers");
}

/// On any rank. Rows of a node have as many entries, or nearly so.
bool Coarsening::has_hubs(const DeviceLevel& level, double hub_entries) {
  bool has = false;
  comm().collectively(
      [&] { has = static_cast<double>(algebra().longest_row(level.matrix.view())) > hub_entries; });
  return comm().any(has);
}

/// Nothing where the aggregates are hardly fewer than the rows.
std::optional<Ways> Coarsening::ways(const Stage& stage, double threshold) {
  const DeviceLevel& level = stage.level;
  const int modes = stage.space.modes;
  const int unknowns = stage.space.unknowns_per_node;
  const auto rows = static_cast<double>(level.partition.rows());
  const double per_row = static_cast<double>(level.nonzeros) / rows;
  CouplingGraph graph =
      algebra().couplings(level.matrix.view(), unknowns, threshold, hub_factor * per_row, *ranks_);
  tell("strength");
  AggregateMap aggregates = algebra().aggregate(graph, *ranks_);
  graph.neighbours = {};  // smoothing asks for hubs and strength alone
  // Where there are hubs nearly all of their neighbours' couplings are weak. Levels without these fill later, so
  // that more of them are made, but bring graphs no nearer to their solutions than one level does.
  const bool filters = !has_hubs(level, hub_factor * per_row) && ranks_->any(graph.weak > 0);
  tell("aggregates");
  Ways ways;
  ways.coarse = aggregation::dealt_by_counts(comm(), std::int64_t{aggregates.count} * modes);
  const auto coarse_rows = static_cast<double>(ways.coarse.rows());
  if (ways.coarse.rows() == 0 || coarse_rows > least_reduction * rows) return std::nullopt;
  aggregation::TentativeRows t = tentative_rows(by_, std::move(aggregates), {stage.space.vectors, modes, unknowns},
                                                level.partition, ways.coarse);
  ways.coarse_vectors = std::move(t.coarse);
  tell("tentative");
  const HaloPlan plan(comm(), level.partition, level.matrix.columns.ghosts());
  aggregation::RowsAndGhosts tentative = with_ghost_rows(by_, std::move(t.interpolation), plan);
  LocalRows p{smoothed(by_, *ranks_, {level.matrix.view(), *level.numbers, unknowns}, std::move(graph), filters,
                       tentative.whole().view()),
              tentative.whole().columns};
  tentative = {};
  tell("interpolation");
  ways.interpolation = with_ghost_rows(by_, std::move(p), plan);
  comm().collectively([&] {
    const CsrView<double> all_rows = ways.interpolation.whole().view();
    ways.restriction = algebra().transpose(top_rows(by_, all_rows, level.matrix.view().rows));
  });
  tell("transpose");
  return ways;
}

/// Whether R A P is going to have more entries than allowed, judged by a sample of its rows: where rows of P reach
/// many aggregates. Elsewhere the product costs little, and what it came to is looked at afterwards. Ranks add to
/// the same rows: what each has for rows of its own is less than the whole, all parts together are more.
bool Coarsening::fills(const CsrView<double>& a, const Ways& ways, int modes, double most_entries) {
  constexpr double few = 8.0;
  constexpr double many = 64.0;
  const CsrView<double> p = ways.interpolation.whole().view();
  const CsrView<double> r = ways.restriction.view();
  const auto rows = static_cast<double>(ways.coarse.rows());
  if (rows * rows <= most_entries) return false;
  bool may_fill = false;
  comm().collectively([&] {
    const double mean = static_cast<double>(p.nonzeros) / std::max<LocalIndex>(p.rows, 1);
    may_fill = mean > few * modes || static_cast<double>(algebra().longest_row(p)) > many * modes;
  });
  if (!comm().any(may_fill)) return false;
  const LocalIndex own = ways.coarse.size(comm().rank());
  double own_entries = 0.0;
  double entries = 0.0;
  comm().collectively([&] {
    const auto estimate = [&](CsrView<double> some) {
      if (some.rows == 0) return 0.0;
      // One more than a multiple of the modes, or else the sample would be one mode of all aggregates.
      const LocalIndex stride = some.rows / most_samples / modes * modes + 1;
      const LocalIndex sampled = (some.rows + stride - 1) / stride;
      const Offset found = algebra().entries_of_triple(some, a, p, stride);
      return static_cast<double>(found) / sampled * some.rows;
    };
    CsrView<double> others = r;
    others.rows -= own;
    others.row_offsets += own;
    own_entries = estimate(top_rows(by_, r, own));
    entries = own_entries + estimate(others);
  });
  tell("sample");
  if (comm().size() == 1) return entries > most_entries;
  return comm().sum(own_entries) > most_entries || comm().sum(entries) > overlap * most_entries;
}

/// What this rank adds to R (A P); nothing where that, or the sum of all, fills.
std::optional<LocalRows> Coarsening::product(const CsrView<double>& a, const Ways& ways, double most_entries) {
  const double most_here = comm().size() == 1 ? most_entries : overlap * most_entries;
  std::optional<CsrBuffers<double>> part;
  const LocalRows& p = ways.interpolation.whole();
  comm().collectively(
      [&] { part = algebra().galerkin(ways.restriction.view(), a, p.view(), static_cast<Offset>(most_here)); });
  tell("R (A P)");
  if (comm().any(!part)) return std::nullopt;
  LocalRows whole = assembled(by_, {std::move(*part), p.columns}, p.columns.ghosts(), ways.coarse);
  if (static_cast<double>(comm().sum(std::int64_t{whole.matrix.pattern->nonzeros})) > most_entries)
    return std::nullopt;
  return whole;
}

/// Completes stage.level, and begins the next one, on fewer ranks where it is small.
void Coarsening::take_next(Stage& stage, Ways ways, LocalRows product, GlobalIndex rows_per_rank, Stage& next) {
  DeviceLevel& level = stage.level;
  const int modes = stage.space.modes;
  const Partition& from = ways.coarse;
  const Partition to = aggregation::concentrated(from, rows_per_rank);
  const double largest = level.numbers->largest_diagonal;
  // Diagonal entries that are rounding errors of zeros come from parts of the matrix that have a kernel of their
  // own; smoothers know how to take zeros. Rows without anything are those of modes that an aggregate is too small
  // to have: on the diagonal, `largest` keeps them out of everyone's way.
  comm().collectively([&] { algebra().settle_empty_rows(product.matrix, diagonal_noise * largest, largest); });
  const LocalIndex fine_rows = level.matrix.view().rows;
  LocalRows restriction{std::move(ways.restriction), {level.matrix.columns.begin(), fine_rows, {}}};
  restriction = assembled(by_, std::move(restriction), ways.interpolation.whole().columns.ghosts(), from);
  level.restriction = dealt(by_, std::move(restriction), from, to);
  level.interpolation = std::move(ways.interpolation.own);
  ways.interpolation = {};
  next.level.partition = to;
  next.level.matrix = dealt(by_, std::move(product), from, to);
  next.space = {std::move(ways.coarse_vectors), modes, modes};
  if (from == to) return;
  comm().collectively([&] {
    level.interpolation = with_column_partition(by_, level.interpolation, to);
    next.level.matrix = with_column_partition(by_, next.level.matrix, to);
  });
  next.space.vectors = dealt_vectors(by_, next.space.vectors, modes, from, to);
}

CoarseningEnd Coarsening::coarsen(Stage& stage, const Allowance& allowance, Stage& next) {
  std::optional<Ways> found = ways(stage, allowance.threshold);
  if (!found) return CoarseningEnd::rows;
  const CsrView<double> a = stage.level.matrix.view();
  if (fills(a, *found, stage.space.modes, allowance.entries)) return CoarseningEnd::fill;
  std::optional<LocalRows> coarse = product(a, *found, allowance.entries);
  if (!coarse) return CoarseningEnd::fill;
  take_next(stage, std::move(*found), std::move(*coarse), allowance.rows_per_rank, next);
  return CoarseningEnd::none;
}

}  // namespace

DeviceNearNullSpace to_device(const Context<double>& context, const NearNullSpace& given, LocalIndex rows) {
  if (given.modes == 0 && given.unknowns_per_node == 1) {
    DeviceNearNullSpace constant{Buffer<double>(context.device, static_cast<std::size_t>(rows))};
    if (rows > 0) context.kernels->fill({constant.vectors.data(), rows, 1, 1}, 1.0);
    return constant;
  }
  const NearNullSpace space = complete_near_null_space(given, rows);
  DeviceNearNullSpace result{Buffer<double>(context.device, space.vectors.size()), space.modes,
                             space.unknowns_per_node};
  result.vectors.upload(space.vectors.data());
  return result;
}

DeviceHierarchy smoothed_aggregation(const Context<double>& context, const DistributedMatrix<double>& a,
                                     double shift, DeviceNearNullSpace near_null_space,
                                     const AggregationOptions& options, const SetupObserver& observer) {
  DeviceHierarchy hierarchy;
  context.comm.collectively([&] { hierarchy.algebra = make_sparse_algebra(context.device); });
  const RowMoving by{context, hierarchy.algebra};
  Coarsening coarsening(by, observer);
  Stage stage;
  stage.level.partition = a.row_partition();
  stage.level.matrix = whole_columns(by, a, shift, near_null_space.unknowns_per_node);
  stage.space = std::move(near_null_space);
  coarsening.measure(stage.level, 0, stage.space.unknowns_per_node);
  auto entries = static_cast<double>(stage.level.nonzeros);
  double left = (options.operator_complexity - 1.0) * entries;
  Allowance allowance{0.0, options.threshold, options.rows_per_rank};
  if (!context.device->host_addressable())
    allowance.rows_per_rank = std::max(allowance.rows_per_rank, least_rows_of_a_gpu);
  while (stage.level.partition.rows() > options.coarse_rows && hierarchy.levels.size() < most_levels) {
    Stage next;
    allowance.entries = std::min(left, options.level_growth * entries);
    stage.level.ended = coarsening.coarsen(stage, allowance, next);
    if (stage.level.ended != CoarseningEnd::none) break;
    hierarchy.levels.push_back(std::move(stage.level));
    stage = std::move(next);
    coarsening.measure(stage.level, static_cast<int>(hierarchy.levels.size()), stage.space.unknowns_per_node);
    entries = static_cast<double>(stage.level.nonzeros);
    left -= entries;
    allowance.threshold *= 0.5;
  }
  hierarchy.levels.push_back(std::move(stage.level));
  return hierarchy;
}

GridHierarchy to_host(const Context<double>& context, const DeviceHierarchy& hierarchy) {
  GridHierarchy result;
  const int rank = context.comm.rank();
  context.comm.collectively([&] {
    const auto& levels = hierarchy.levels;
    const auto copied = [&](const LocalRows& rows, const Partition& of_rows, const Partition& of_columns) {
      return aggregation::to_host(*context.device, rows, of_rows.begin(rank), of_rows.rows(), of_columns.rows());
    };
    for (std::size_t l = 0; l < levels.size(); ++l) {
      GridLevel level;
      level.partition = levels[l].partition;
      level.ended = levels[l].ended;
      level.matrix = copied(levels[l].matrix, level.partition, level.partition);
      if (l + 1 < levels.size()) {
        const Partition& coarser = levels[l + 1].partition;
        level.interpolation = copied(levels[l].interpolation, level.partition, coarser);
        level.restriction = copied(levels[l].restriction, coarser, level.partition);
      }
      result.push_back(std::move(level));
    }
  });
  return result;
}

}  // namespace block_eigs
