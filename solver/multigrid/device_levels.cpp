#include "solver/multigrid/device_levels.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "solver/multigrid/near_null_space.hpp"

namespace block_eigs {

namespace {

struct Allowance {
  double entries = 0.0;    ///< of the next level
  double threshold = 0.0;  ///< of strong couplings
};

/// What the next coarser level is to be made of.
struct Stage {
  DeviceLevel level;
  DeviceNearNullSpace space;
};

/// Nodes with more entries a row than so many times the average are hubs.
constexpr double hub_factor = 10.0;
/// A level that is hardly smaller than the one before is not worth its work.
constexpr double least_reduction = 0.8;
constexpr LocalIndex most_samples = 128;
constexpr double diagonal_noise = 1e-14;
constexpr std::size_t most_levels = 25;

/// Makes levels, and tells of each stage.
class Coarsening {
 public:
  Coarsening(SparseAlgebra& algebra, const SetupObserver& observer) : algebra_(algebra), observer_(observer) {}

  void begin(int level) { level_ = level; }
  CoarseningEnd coarsen(Stage& stage, const Allowance& allowance, Stage& next);
  void measure(DeviceLevel& level) {
    level.numbers = std::make_shared<const MatrixNumbers>(algebra_.numbers(level.matrix.view()));
    tell("numbers");
  }

 private:
  void tell(std::string_view stage) const {
    if (observer_) observer_(stage, level_);
  }
  bool hardly_coarser(const Stage& stage, LocalIndex coarse_rows) const {
    return coarse_rows == 0 || coarse_rows > least_reduction * stage.level.matrix.pattern->rows;
  }
  TentativeInterpolation aggregate(const Stage& stage, double threshold);
  bool fills(const CsrView<double>& a, const CsrView<double>& p, const CsrView<double>& r, int modes,
             double most_entries);

  SparseAlgebra& algebra_;
  const SetupObserver& observer_;
  int level_ = 0;
  CouplingGraph graph_;  ///< of the level in the making
};

/// Nothing where the aggregates are hardly fewer than the rows.
TentativeInterpolation Coarsening::aggregate(const Stage& stage, double threshold) {
  const CsrView<double> a = stage.level.matrix.view();
  const double per_row = static_cast<double>(a.nonzeros) / a.rows;
  graph_ = algebra_.couplings(a, stage.space.unknowns_per_node, threshold, hub_factor * per_row);
  tell("strength");
  const AggregateMap aggregates = algebra_.aggregate(graph_);
  tell("aggregates");
  if (hardly_coarser(stage, aggregates.count * stage.space.modes)) return {};
  TentativeInterpolation t =
      algebra_.tentative(aggregates, stage.space.unknowns_per_node, stage.space.vectors, stage.space.modes);
  tell("tentative");
  return t;
}

/// Whether R A P is going to have more entries than allowed, judged by a sample of its rows: where rows of P reach
/// many aggregates. Elsewhere the product costs little, and what it came to is looked at afterwards.
bool Coarsening::fills(const CsrView<double>& a, const CsrView<double>& p, const CsrView<double>& r, int modes,
                       double most_entries) {
  constexpr double few = 8.0;
  constexpr double many = 64.0;
  const double mean = static_cast<double>(p.nonzeros) / std::max<LocalIndex>(p.rows, 1);
  if (static_cast<double>(r.rows) * r.rows <= most_entries) return false;
  if (mean <= few * modes && static_cast<double>(algebra_.longest_row(p)) <= many * modes) return false;
  // One more than a multiple of the modes, or else the sample would be one mode of all aggregates.
  const LocalIndex stride = r.rows / most_samples / modes * modes + 1;
  const Offset entries = algebra_.entries_of_triple(r, a, p, stride);
  tell("sample");
  const LocalIndex sampled = (r.rows + stride - 1) / stride;
  return static_cast<double>(entries) / sampled * r.rows > most_entries;
}

/// Completes stage.level with the way to the next one and back, and makes that; or says why that does not pay.
CoarseningEnd Coarsening::coarsen(Stage& stage, const Allowance& allowance, Stage& next) {
  DeviceLevel& level = stage.level;
  TentativeInterpolation t = aggregate(stage, allowance.threshold);
  if (!t.interpolation.pattern) return CoarseningEnd::rows;
  const CsrView<double> a = level.matrix.view();
  const double omega = 4.0 / 3.0 / std::max(level.numbers->interpolation_bound, 1e-300);
  CsrBuffers<double> p = algebra_.smoothed(a, *level.numbers, t.interpolation.view(), graph_, omega);
  t.interpolation = {};
  graph_ = {};
  tell("interpolation");
  CsrBuffers<double> r = algebra_.transpose(p.view());
  tell("transpose");
  if (fills(a, p.view(), r.view(), stage.space.modes, allowance.entries)) return CoarseningEnd::fill;
  std::optional<CsrBuffers<double>> product =
      algebra_.galerkin(r.view(), a, p.view(), static_cast<Offset>(allowance.entries));
  tell("R (A P)");
  if (!product) return CoarseningEnd::fill;
  next.level.matrix = std::move(*product);
  const double largest = level.numbers->largest_diagonal;
  // Diagonal entries that are rounding errors of zeros come from parts of the matrix that have a kernel of their
  // own; smoothers know how to take zeros. Rows without anything are those of modes that an aggregate is too small
  // to have: on the diagonal, `largest` keeps them out of everyone's way.
  algebra_.settle_empty_rows(next.level.matrix, diagonal_noise * largest, largest);
  next.space = {std::move(t.coarse), stage.space.modes, stage.space.modes};
  level.interpolation = std::move(p);
  level.restriction = std::move(r);
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

DeviceHierarchy smoothed_aggregation(std::shared_ptr<SparseAlgebra> algebra, CsrBuffers<double> finest,
                                     DeviceNearNullSpace near_null_space, const AggregationOptions& options,
                                     const SetupObserver& observer) {
  DeviceHierarchy hierarchy{std::move(algebra), {}};
  Coarsening coarsening(*hierarchy.algebra, observer);
  Stage stage;
  stage.level.matrix = std::move(finest);
  stage.space = std::move(near_null_space);
  coarsening.measure(stage.level);
  auto entries = static_cast<double>(stage.level.matrix.pattern->nonzeros);
  double left = (options.operator_complexity - 1.0) * entries;
  double threshold = options.threshold;
  while (stage.level.matrix.pattern->rows > options.coarse_rows && hierarchy.levels.size() < most_levels) {
    Stage next;
    stage.level.ended =
        coarsening.coarsen(stage, {std::min(left, options.level_growth * entries), threshold}, next);
    if (stage.level.ended != CoarseningEnd::none) break;
    hierarchy.levels.push_back(std::move(stage.level));
    stage = std::move(next);
    coarsening.begin(static_cast<int>(hierarchy.levels.size()));
    coarsening.measure(stage.level);
    entries = static_cast<double>(stage.level.matrix.pattern->nonzeros);
    left -= entries;
    threshold *= 0.5;
  }
  hierarchy.levels.push_back(std::move(stage.level));
  return hierarchy;
}

}  // namespace block_eigs
