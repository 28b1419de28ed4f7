#include "solver/block_cg/bcgrq.hpp"

#include "solver/block_cg/bcgrq_checkpoint.hpp"
#include "solver/block_cg/bcgrq_steps.hpp"

namespace block_eigs::bcgrq {

namespace {

/// Iterations between two comparisons with the true residual, where rounding errors matter.
constexpr int true_residual_period = 50;

/// What comes before the iterations of a round, from R = F - A X in state.q. How it ended if there are to be none.
template <class T>
std::optional<RoundEnd> begin_round(State<T>& state, Sides<T>& sides, bool tentative) {
  SmallMatrix small;
  begin_recurrence(state, sides);                                         // Q' = R
  measure_basis(state);                                                   // Z' = M^-1 Q'
  if (!orthonormalise(state, sides, small)) return RoundEnd::impossible;  // R = Q C with Q = Q' T
  begin_directions(state, small);                                         // S = M^-1 Q = Z' T
  if (!has_gained(sides) && tentative) return RoundEnd::stalled;
  if (maps_to_nothing(state, sides)) return RoundEnd::impossible;
  return std::nullopt;
}

/// The iterations from one computation of R = F - A X to the next, from the one at `place` on.
template <class T>
RoundEnd run_round(State<T>& state, Sides<T>& sides, Budget& budget, const Iterated& iterated,
                   const RoundPlace& place) {
  SmallMatrix small;
  for (int k = place.iteration; sides.any_active(); ++k) {
    if (budget.exhausted()) return RoundEnd::out_of_iterations;
    const LocalIndex directions = state.s.cols();
    if (directions == 0) return RoundEnd::stalled;
    const auto end = invert_curvature(state, sides, budget, k, small);  // A S, Xi = (S^T A S)^-1
    if (end) return *end;
    update_residuals(state, small);                                         // Q' <- Q' T - A S Xi, Z' = M^-1 Q'
    if (!orthonormalise(state, sides, small)) return RoundEnd::impossible;  // Q' = Q zeta, C <- zeta C
    update_solution(state, sides, small);  // X <- X + S Xi C, S <- M^-1 Q + S zeta^T
    budget.spend();
    const bool wanted = iterated(directions);
    save_if_due(state, sides, budget, {place.first_round, k + 1});
    if (!wanted) return RoundEnd::interrupted;
    if ((k + 1) % true_residual_period == 0 && needs_residual_replacement(state, sides)) return RoundEnd::stalled;
  }
  return RoundEnd::done;
}

}  // namespace

template <class T>
void solve(State<T>& state, Sides<T>& sides, Budget& budget, const Iterated& iterated) {
  std::optional<RoundPlace> resumed = resume(state, sides);
  RoundPlace place = resumed.value_or(RoundPlace{});
  if (!resumed) begin_sides(state, sides);  // R = F - A X
  Next next = resumed || sides.any_active() ? Next::round : Next::end;
  for (; next != Next::end; place = {false, 0}) {
    std::optional<RoundEnd> end;
    if (!resumed) end = begin_round(state, sides, next == Next::tentative_round);
    if (!end) end = run_round(state, sides, budget, iterated, place);
    resumed.reset();
    next = conclude_round(state, sides, budget, *end, place.first_round);  // R = F - A X
  }
  bool all_done = true;
  for (Column& column : sides.columns) {
    column.outcome = judge(state, column);
    all_done = all_done && column.outcome != Outcome::not_converged;
  }
  if (!all_done) return;
  sides.remark.clear();
  sides.findings.end = BlockCgEnd::solved;
}

template <class T>
void judge_anew(State<T>& state, Sides<T>& sides) {
  measure_residuals(state, sides);
  for (Column& column : sides.columns) column.outcome = judge(state, column);
}

template void judge_anew(State<float>&, Sides<float>&);
template void judge_anew(State<double>&, Sides<double>&);
template void solve(State<float>&, Sides<float>&, Budget&, const Iterated&);
template void solve(State<double>&, Sides<double>&, Budget&, const Iterated&);

}  // namespace block_eigs::bcgrq
