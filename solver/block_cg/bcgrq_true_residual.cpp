#include <algorithm>
#include <cmath>
#include <limits>

#include "solver/block_cg/bcgrq_best.hpp"
#include "solver/block_cg/bcgrq_drift.hpp"
#include "solver/block_cg/bcgrq_steps.hpp"

namespace block_eigs::bcgrq {

namespace {

/// A further round is worth it when the one before brought a residual down by this factor.
constexpr double progress = 0.5;
/// The recurrence is replaced by the true residual when that is this much larger.
constexpr double largest_gap = 2.0;

template <class T>
double accuracy_limit(const State<T>& state, const Column& column) {
  return state.test.accuracy_limit(column.rhs_norm, column.product_scale);
}

/// ||A|| ||x|| of every x, which has one of the `norms`. Whether any is so large that nothing of f may be left.
template <class T>
bool bound_products(const State<T>& state, Sides<T>& sides, const std::vector<double>& norms) {
  bool doubtful = false;
  for (std::size_t j = 0; j < norms.size(); ++j) {
    Column& column = sides.columns[j];
    column.product_scale = column.product_bound = state.test.product_scale(norms[j]);
    doubtful |= state.test.beyond_reach(column.rhs_norm, column.product_scale);
  }
  return doubtful;
}

/// F - A X into r, which may be the storage of A X, with its norms and the scales of A X; what is in state.as may
/// be lost.
template <class T>
void residual_into(State<T>& state, Sides<T>& sides, BlockView<T> r) {
  const std::vector<double> ones(sides.columns.size(), 1.0);
  state.deferred.complete();
  state.as.set_columns(sides.count());
  state.a.apply(sides.x, state.as.view());
  const std::vector<double> norms = state.space.residual(sides.f, state.as.view(), ones, r);
  for (std::size_t j = 0; j < norms.size(); ++j) sides.columns[j].true_norm = norms[j];
  measure_solutions(state, sides, state.space.column_norms(sides.x));
  for (Column& column : sides.columns) column.settled = column.true_norm <= accuracy_limit(state, column);
}

/// Whether x = 0 is the better start: numbers are too small for A x, or its residual is smaller and rounding
/// errors in A x are in the way. Of what iterations have come to that is known only where they leave nothing of f:
/// a large x may be what is wanted.
template <class T>
bool is_worse_than_none(const State<T>& state, const Column& start, bool is_guess) {
  if (!std::isfinite(start.true_norm)) return true;
  if (start.true_norm <= start.rhs_norm) return false;
  return is_guess ? accuracy_limit(state, start) > start.limit
                  : state.test.beyond_reach(start.rhs_norm, start.product_scale);
}

/// Starts that are worse than none are replaced by zero. Whether there were any.
template <class T>
bool forget_bad_starts(State<T>& state, Sides<T>& sides) {
  bool any = false;
  for (std::size_t j = 0; j < sides.columns.size(); ++j) {
    if (!is_worse_than_none(state, sides.columns[j], !sides.best.known)) continue;
    state.space.kernels().fill(sides.x.columns(static_cast<LocalIndex>(j), 1), 0.0);
    any = true;
  }
  return any;
}

/// Whether the round that has ended brought a residual down by much, as M measures.
template <class T>
bool inner_norms_fell(const Sides<T>& sides) {
  constexpr double much = 1e-3;
  return std::any_of(sides.columns.begin(), sides.columns.end(), [](const Column& column) {
    return column.active && column.inner_norm < much * column.least_inner;
  });
}

/// Whether there is a right-hand side at work that is no larger than rounding errors in A x.
template <class T>
bool rounding_covers_sides(const State<T>& state, const Sides<T>& sides) {
  return std::any_of(sides.columns.begin(), sides.columns.end(), [&](const Column& column) {
    return column.active && state.test.beyond_reach(column.rhs_norm, column.product_scale);
  });
}

/// Whether the energy x^T A x - 2 f^T x of iterates has become less by much since it was last measured, R in
/// state.q. Every step of conjugate gradients lowers it, whatever becomes of the residual.
template <class T>
bool energies_fell(State<T>& state, Sides<T>& sides) {
  constexpr double much = 0.1;
  const std::vector<double> along_f = state.space.column_dots(sides.x, sides.f);
  const std::vector<double> along_r = state.space.column_dots(sides.x, state.q.view());
  bool fell = false;
  for (std::size_t j = 0; j < along_f.size(); ++j) {
    Column& column = sides.columns[j];
    const double energy = -(along_f[j] + along_r[j]);
    fell |= column.active && energy < column.energy - much * std::abs(column.energy);
    column.energy = std::min(column.energy, energy);
  }
  return fell;
}

/// Column::may_gain; A X is used up.
template <class T>
void look_closer_at_limits(State<T>& state, Sides<T>& sides) {
  constexpr double far_smaller = 0.01;
  const auto at_limit = [](const Column& column) {
    return !column.unsolvable && column.outcome == Outcome::at_accuracy_limit;
  };
  for (Column& column : sides.columns) column.may_gain = false;
  if (std::none_of(sides.columns.begin(), sides.columns.end(), at_limit)) return;
  state.as.set_columns(sides.count());
  const std::vector<double> scales = state.probe.product_scales(sides.x, state.as.view());
  for (std::size_t j = 0; j < scales.size(); ++j) {
    Column& column = sides.columns[j];
    column.may_gain = at_limit(column) && scales[j] < far_smaller * column.product_bound &&
                      column.true_norm > state.test.accuracy_limit(column.rhs_norm, scales[j]);
  }
}

template <class T>
bool any_undone(const Sides<T>& sides) {
  return std::any_of(sides.columns.begin(), sides.columns.end(), [](const Column& column) {
    return !column.unsolvable && column.outcome == Outcome::not_converged;
  });
}

/// The remark, to which something is to be added.
template <class T>
std::string& begin_remark(Sides<T>& sides) {
  if (!sides.remark.empty()) sides.remark += "; ";
  return sides.remark;
}

template <class T>
void explain(const State<T>& state, Sides<T>& sides, const Budget& budget) {
  if (budget.exhausted()) {
    note_exhausted(sides, budget);
  } else {
    if (sides.findings.end == BlockCgEnd::solved) sides.findings.end = BlockCgEnd::at_rounding;
    begin_remark(sides) +=
        "rounding errors keep the true residuals above the tolerance, which is beyond this precision";
  }
  if (rounding_covers_sides(state, sides))
    sides.remark += ", rounding errors in A x are as large as a right-hand side";
}

}  // namespace

template <class T>
void note_exhausted(Sides<T>& sides, const Budget& budget) {
  const bool known = sides.findings.singular_matrix || sides.findings.end == BlockCgEnd::too_large;
  if (!known) sides.findings.end = budget.ended() ? BlockCgEnd::stopped : BlockCgEnd::out_of_iterations;
  begin_remark(sides) +=
      budget.ended() ? ended_on_request : "max_iterations = " + std::to_string(budget.limit()) + " reached";
}

template <class T>
void begin_sides(State<T>& state, Sides<T>& sides) {
  for (std::size_t j = 0; j < sides.columns.size(); ++j) {
    Column& column = sides.columns[j];
    column.limit = column.share * state.test.limit(column.rhs_norm);
    column.true_norm = column.rhs_norm;
    if (column.rhs_norm > 0.0) continue;
    state.space.kernels().fill(sides.x.columns(static_cast<LocalIndex>(j), 1), 0.0);
  }
  if (sides.starts_at_zero) {
    state.q.set_columns(sides.count());
    state.space.copy(sides.f, state.q.view());
  } else {
    measure_residuals(state, sides);
    if (forget_bad_starts(state, sides)) measure_residuals(state, sides);
  }
  for (Column& column : sides.columns) {
    column.reached_norm = column.recursive_norm = column.true_norm;
    column.active = !(column.true_norm <= column.limit);
  }
  if (sides.any_active()) note_start(state.space, sides);
}

template <class T>
void measure_residuals(State<T>& state, Sides<T>& sides) {
  state.q.set_columns(sides.count());
  residual_into(state, sides, state.q.view());
}

template <class T>
bool measure_solutions(State<T>& state, Sides<T>& sides, const std::vector<double>& norms) {
  if (!bound_products(state, sides, norms)) return false;
  if (state.deferred.defers()) {  // `norms` are of an X that lacked some steps
    state.deferred.complete();
    bound_products(state, sides, state.space.column_norms(sides.x));
  }
  // ||A|| ||x|| is a poor bound where rows of A are of very different size.
  state.as.set_columns(sides.count());
  const std::vector<double> scales = state.probe.product_scales(sides.x, state.as.view());
  for (std::size_t j = 0; j < scales.size(); ++j) {
    // Not a number: x is not finite, and the bound says so too.
    if (scales[j] < sides.columns[j].product_scale) sides.columns[j].product_scale = scales[j];
  }
  return true;
}

template <class T>
bool needs_residual_replacement(State<T>& state, Sides<T>& sides) {
  if (!sides.any_active()) return false;
  state.deferred.complete();
  measure_solutions(state, sides, state.space.column_norms(sides.x));
  bool rounding_matters = false;
  for (const Column& column : sides.columns) {
    rounding_matters |= column.active && column.limit < 100.0 * accuracy_limit(state, column);
  }
  if (!rounding_matters) return false;
  state.as.set_columns(sides.count());
  residual_into(state, sides, state.as.view());
  bool restart = false;
  std::vector<bool> active;
  for (Column& column : sides.columns) {
    if (column.active && column.true_norm > largest_gap * column.recursive_norm) {
      column.active = column.true_norm > accuracy_limit(state, column);
      restart |= column.active;
    }
    active.push_back(column.active);
  }
  state.recurrence.set_active(active);
  return restart;
}

template <class T>
bool has_gained(Sides<T>& sides) {
  bool gained = false;
  for (Column& column : sides.columns) {
    if (!column.active) continue;
    gained |= column.inner_norm < progress * column.least_inner;
    column.least_inner = std::min(column.least_inner, column.inner_norm);
  }
  return gained;
}

template <class T>
Next conclude_round(State<T>& state, Sides<T>& sides, const Budget& budget, RoundEnd end, bool first_round) {
  measure_residuals(state, sides);
  for (Column& column : sides.columns) {
    column.outcome = judge(state, column);
    column.active = !column.unsolvable && column.outcome == Outcome::not_converged;
  }
  const bool may_go_on = end != RoundEnd::impossible && end != RoundEnd::interrupted;
  look_closer_at_limits(state, sides);
  for (Column& column : sides.columns) column.active |= may_go_on && column.may_gain;
  for (Column& column : sides.columns) column.aim = 0.0;
  const bool back = go_back_before_drift(state, sides, budget, may_go_on);
  for (Column& column : sides.columns) column.least_norm = column.dip = std::numeric_limits<double>::infinity();
  bool worth_it = back || (may_go_on && give_up_growing(state, sides, budget)) || end == RoundEnd::given_up;
  for (Column& column : sides.columns) {
    worth_it |= column.active && column.true_norm < progress * column.reached_norm;
    column.reached_norm = std::min(column.reached_norm, column.true_norm);
  }
  // The norm of a residual may rise while it falls in the norm that M measures.
  const bool promising = end == RoundEnd::stalled && inner_norms_fell(sides);
  if (end == RoundEnd::stalled && !worth_it) worth_it = energies_fell(state, sides);
  const bool failed = any_undone(sides);
  const bool again = sides.any_active() && (worth_it || promising) && may_go_on && !budget.exhausted();
  if (again) note_best(state.space, sides);
  // Conjugate gradients lower the error, not the residual, in every step: an iterate that was merely stopped
  // stays.
  const bool doubtful = !first_round || !sides.remark.empty();
  // One that is done stays, too: of a smaller x with a smaller residual rounding errors may cover less.
  bool restored = doubtful && restore_best(state.space, sides);
  if (restored) measure_residuals(state, sides);
  const bool settled = !again && restore_settled(state.space, sides);
  if (settled) measure_residuals(state, sides);
  restored = restored || settled;
  if (restored && !again) {
    for (Column& column : sides.columns) column.outcome = judge(state, column);
    look_closer_at_limits(state, sides);
  }
  if (failed && may_go_on && !again) explain(state, sides, budget);
  if (!again) return Next::end;
  return worth_it ? Next::round : Next::tentative_round;
}

template <class T>
Outcome judge(const State<T>& state, const Column& column) {
  const Outcome outcome = state.test.judge(column.true_norm, column.rhs_norm, column.product_scale, column.share);
  const bool doubtful = column.unsolvable && outcome == Outcome::at_accuracy_limit;
  return doubtful ? Outcome::not_converged : outcome;
}

template void note_exhausted(Sides<float>&, const Budget&);
template void begin_sides(State<float>&, Sides<float>&);
template void measure_residuals(State<float>&, Sides<float>&);
template bool measure_solutions(State<float>&, Sides<float>&, const std::vector<double>&);
template bool needs_residual_replacement(State<float>&, Sides<float>&);
template bool has_gained(Sides<float>&);
template Next conclude_round(State<float>&, Sides<float>&, const Budget&, RoundEnd, bool);
template Outcome judge(const State<float>&, const Column&);
template void note_exhausted(Sides<double>&, const Budget&);
template void begin_sides(State<double>&, Sides<double>&);
template void measure_residuals(State<double>&, Sides<double>&);
template bool measure_solutions(State<double>&, Sides<double>&, const std::vector<double>&);
template bool needs_residual_replacement(State<double>&, Sides<double>&);
template bool has_gained(Sides<double>&);
template Next conclude_round(State<double>&, Sides<double>&, const Budget&, RoundEnd, bool);
template Outcome judge(const State<double>&, const Column&);

}  // namespace block_eigs::bcgrq
