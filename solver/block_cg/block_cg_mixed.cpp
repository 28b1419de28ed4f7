#include "solver/block_cg/block_cg_mixed.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "solver/block_cg/bcgrq.hpp"
#include "solver/block_cg/bcgrq_checkpoint.hpp"
#include "solver/block_cg/bcgrq_solvers.hpp"
#include "solver/block_cg/bcgrq_steps.hpp"

namespace block_eigs {

namespace {

using bcgrq::Column;
using bcgrq::Iterated;
using bcgrq::Sides;
using bcgrq::State;

constexpr int most_rounds = 8;
/// What a round may be asked for: far enough from where rounding in float separates recursive and true residual.
constexpr double deepest = 1e-6;
/// A round that leaves more than this of the worst residual is the last one.
constexpr double least_gain = 0.1;
/// The last round aims a little below the limit.
constexpr double margin = 0.7;
/// A round ends where a decimal digit takes a quarter of the iterations allowed, and at least so many: at that
/// rate float would not get there, and what is left of them is for double.
constexpr int shortest_patience = 50;

/// Whether iterations still lower the largest residual, in units of its limit: a decimal digit in `patience` of
/// them.
class Progress {
 public:
  explicit Progress(int patience) : patience_(patience) {}

  /// To be asked after every iteration.
  bool made(const std::vector<Column>& columns) {
    double largest = 0.0;
    for (const Column& column : columns) {
      if (column.limit > 0.0) largest = std::max(largest, column.recursive_norm / column.limit);
    }
    ++since_digit_;
    if (largest < 0.1 * before_) {
      before_ = largest;
      since_digit_ = 0;
    }
    return since_digit_ < patience_;
  }

 private:
  int patience_;
  int since_digit_ = 0;
  double before_ = std::numeric_limits<double>::infinity();
};

/// Whether rounding errors in A x are as large as a right-hand side, as far as that was looked at: what is to be
/// done then is for double.
bool beyond_reach(const LinearResidualTest& test, const std::vector<Column>& columns) {
  return std::any_of(columns.begin(), columns.end(), [&](const Column& column) {
    return column.active && test.beyond_reach(column.rhs_norm, column.product_scale);
  });
}

/// Block CG in float on a scaled residual, and the correction that it finds.
struct FloatCopy {
  /// Collective; throws on all ranks what one rank throws.
  FloatCopy(const Context<float>& context, const Partition& partition, LinearOperator<float>& a,
            LinearOperator<float>* preconditioner, LocalIndex width)
      : space(context, partition),
        state(space, a, preconditioner, deepest, width),
        residual(space.make_block(width)),
        correction(space.make_block(width)) {}

  BlockSpace<float> space;
  State<float> state;
  DenseBlock<float> residual;    ///< F - A X, columns scaled to length one
  DenseBlock<float> correction;  ///< E of A E = residual
  DenseBlock<float> best;        ///< storage for the best iterates
};

Context<float> float_context(BlockSpace<double>& space) {
  std::optional<Context<float>> context;
  space.comm().collectively([&] { context = with_precision<float>(space.context()); });
  return *context;
}

/// The largest residual in units of its limit; without those that may not leave anything.
double worst(const std::vector<Column>& columns) {
  double ratio = 0.0;
  for (const Column& column : columns) {
    if (column.limit > 0.0) ratio = std::max(ratio, column.true_norm / column.limit);
  }
  return ratio;
}

std::vector<double> true_norms(const std::vector<Column>& columns) {
  std::vector<double> norms;
  for (const Column& column : columns) norms.push_back(column.true_norm);
  return norms;
}

/// correction = E of A E = R diag(1 / norms) in float, R in state.q; zero for columns that are done. As deep as a
/// round may go, or what is missing: a new round begins without search directions, so that few deep rounds take
/// fewer iterations than many equal ones. False where the preconditioner is not positive definite in float.
bool correct(FloatCopy& copy, const std::vector<double>& norms, const State<double>& state, Sides<double>& sides,
             Budget& budget, const Iterated& iterated) {
  const LocalIndex count = sides.count();
  std::vector<double> inverse;
  for (const Column& column : sides.columns) inverse.push_back(column.active ? 1.0 / column.true_norm : 0.0);
  const BlockView<float> r = copy.residual.columns(0, count);
  const BlockView<float> e = copy.correction.columns(0, count);
  state.space.kernels().convert(state.q.view(), inverse, r);
  copy.space.kernels().fill(e, 0.0);
  copy.state.test = copy.state.test.with_tolerance(std::max(margin / worst(sides.columns), deepest));
  Sides<float> inner{r, e, true, std::vector<Column>(sides.columns.size()), {}, {}};
  const std::vector<double> lengths = copy.space.column_norms(r);
  for (std::size_t j = 0; j < lengths.size(); ++j) inner.columns[j].rhs_norm = lengths[j];
  Progress progress(std::max(shortest_patience, budget.limit() / 4));
  sides.in_float = true;
  inner.best.x = std::move(copy.best);
  bcgrq::solve(copy.state, inner, budget, [&](LocalIndex directions) {
    for (std::size_t j = 0; j < norms.size(); ++j) {
      sides.columns[j].recursive_norm = inner.columns[j].recursive_norm * norms[j];
    }
    return iterated(directions) && progress.made(inner.columns) && !beyond_reach(copy.state.test, inner.columns);
  });
  copy.best = std::move(inner.best.x);
  sides.in_float = false;
  for (std::size_t j = 0; j < norms.size(); ++j) sides.columns[j].iterations += inner.columns[j].iterations;
  return !inner.findings.indefinite_preconditioner;
}

/// X += E diag(scales), by way of state.q.
void add_correction(FloatCopy& copy, const std::vector<double>& scales, State<double>& state,
                    Sides<double>& sides) {
  const BlockView<double> e = state.q.view();
  copy.space.kernels().convert(std::as_const(copy.correction).columns(0, sides.count()), scales, e);
  state.space.kernels().axpby(1.0, e, 1.0, sides.x);
}

/// One round of refinement, R in state.q before and after. False where it failed or did harm; X is as before then,
/// up to rounding, and state.q undefined.
bool refine_once(FloatCopy& copy, State<double>& state, Sides<double>& sides, Budget& budget,
                 const Iterated& iterated) {
  std::vector<double> before = true_norms(sides.columns);
  if (!correct(copy, before, state, sides, budget, iterated)) return false;
  add_correction(copy, before, state, sides);
  sides.starts_at_zero = false;
  bcgrq::measure_residuals(state, sides);
  for (std::size_t j = 0; j < before.size(); ++j) {
    const double now = sides.columns[j].true_norm;
    if (now <= std::max(before[j], sides.columns[j].limit)) continue;
    // Conjugate gradients lower the error, not the residual: what was merely stopped stays.
    if (budget.exhausted() && std::isfinite(now)) continue;
    for (double& norm : before) norm = -norm;
    add_correction(copy, before, state, sides);
    return false;
  }
  for (Column& column : sides.columns) {
    column.recursive_norm = column.true_norm;
    column.active = column.true_norm > column.limit;
  }
  return true;
}

/// Rounds in float as long as they bring a tenth or less of what was there before.
void refine(FloatCopy& copy, State<double>& state, Sides<double>& sides, Budget& budget,
            const Iterated& iterated) {
  bcgrq::begin_sides(state, sides);
  for (int round = 0; round < most_rounds && !budget.exhausted(); ++round) {
    const double before = worst(sides.columns);
    if (!(before > 1.0) || !std::isfinite(before)) return;
    if (!refine_once(copy, state, sides, budget, iterated)) return;
    bcgrq::save_between_rounds(sides, budget);
    if (worst(sides.columns) > least_gain * before) return;
  }
}

}  // namespace

namespace bcgrq {

BlockSolver<double> mixed_solver(BlockSpace<double>& space, LinearOperator<double>& a,
                                 LinearOperator<double>* preconditioner, LinearOperator<float>& a_float,
                                 LinearOperator<float>* preconditioner_float, double tolerance, LocalIndex width,
                                 bool float_is_extra) {
  const auto state = std::make_shared<State<double>>(space, a, preconditioner, tolerance, width);
  const auto copy =
      std::make_shared<FloatCopy>(float_context(space), space.partition(), a_float, preconditioner_float, width);
  return {[state, copy, float_is_extra](Sides<double>& sides, Budget& budget, const Iterated& iterated) {
            if (!sides.before_float) sides.before_float = budget.spent();
            if (!resumes_within_round(sides)) refine(*copy, *state, sides, budget, iterated);
            if (float_is_extra && sides.any_active()) {
              const int in_float = budget.spent() - *sides.before_float;
              sides.not_counted += in_float;
              budget.refund(in_float);
            }
            sides.before_float.reset();
            bcgrq::solve(*state, sides, budget, iterated);
          },
          [state](Sides<double>& sides) { judge_anew(*state, sides); }};
}

}  // namespace bcgrq

BlockCgResult<double> block_cg_mixed(BlockSpace<double>& space, LinearOperator<double>& a,
                                     LinearOperator<double>* preconditioner, LinearOperator<float>& a_float,
                                     LinearOperator<float>* preconditioner_float, const DenseBlock<double>& f,
                                     DenseBlock<double> initial, const BlockCgOptions& options,
                                     const Observer& observer, const Proceed& proceed) {
  const auto began = Budget::Clock::now();
  bcgrq::check_arguments(space, f, initial, options);
  const LocalIndex width = std::min<LocalIndex>(options.block_size, f.cols());
  const auto solver = bcgrq::mixed_solver(space, a, preconditioner, a_float, preconditioner_float,
                                          options.tolerance, width, options.float_is_extra);
  return bcgrq::solve_in_blocks<double>(space, f, std::move(initial), options, {observer, proceed}, began, solver);
}

}  // namespace block_eigs
