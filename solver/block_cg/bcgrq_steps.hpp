#pragma once

#include <optional>

#include "solver/block_cg/bcgrq_state.hpp"
#include "solver/budget.hpp"
#include "spmm/small_matrix.hpp"

// The steps of BCGrQ (docs/theory.md, "Block CG") on a State and the Sides it works on. All are collective, and
// all that they decide is decided by replicated values.
namespace block_eigs::bcgrq {

// bcgrq_steps.cpp: the recurrence

/// Q' = R = F - A X, which state.q holds; C = I.
template <class T>
void begin_recurrence(State<T>& state, const Sides<T>& sides);
/// Z' = M^-1 Q', and state.products for orthonormalise().
template <class T>
void measure_basis(State<T>& state);
/// T with (Q' T)^T M^-1 Q' T = I, zeta and C <- zeta C; norms of the residuals, and which columns are at work.
/// `coefficients` are those of update_solution or begin_directions. False where numbers are not finite or the
/// preconditioner is not positive definite; the sides say so then.
template <class T>
bool orthonormalise(State<T>& state, Sides<T>& sides, SmallMatrix& coefficients);
/// S = Z' T
template <class T>
void begin_directions(State<T>& state, const SmallMatrix& coefficients);
/// A S
template <class T>
void multiply(State<T>& state);
/// A S and Xi = (S^T A S)^-1, in `coefficients` those of update_residuals. The k-th iteration of a round; every
/// 16th one looks at p^T A p too. Else why it does not exist.
template <class T>
std::optional<RoundEnd> invert_curvature(State<T>& state, Sides<T>& sides, const Budget& budget, int k,
                                         SmallMatrix& coefficients);
/// Q' <- Q' T - A S Xi, and what measure_basis() does, in one pass where M is a diagonal.
template <class T>
void update_residuals(State<T>& state, const SmallMatrix& coefficients);
/// X <- X + S Xi C and S <- Z' T + S zeta^T, in one pass, or X later in this round: see State::deferred.
template <class T>
void update_solution(State<T>& state, Sides<T>& sides, const SmallMatrix& coefficients);

// bcgrq_breakdown.cpp: operators that are not positive definite

/// To the sides: numbers have left the range of the arithmetic.
template <class T>
void note_beyond_range(Sides<T>& sides);
/// To the sides: M^-1 gives values that are not finite or, where `negative`, r^T M^-1 r = `inner_square` < 0 for a
/// combination of residuals. Looks whether A itself is to blame; uses up state.as.
template <class T>
void note_preconditioner_fault(State<T>& state, Sides<T>& sides, bool negative, double inner_square);
/// Whether M^-1 maps all residuals to zero, so that a round begins without directions; then the sides say so.
template <class T>
bool maps_to_nothing(State<T>& state, Sides<T>& sides);
/// Looks for directions p in the span of S with p^T A p <= 0, from `products` = S^T [A S, S], finite.
template <class T>
std::optional<RoundEnd> examine(State<T>& state, Sides<T>& sides, const Budget& budget,
                                const SmallMatrix& products);
/// Gives up a right-hand side whose x, as last measured, is a null vector of A but for rounding errors.
template <class T>
void note_drift(Column& column, Sides<T>& sides, const Budget& budget);
/// Gives up right-hand sides whose iterates, as last measured, have grown along a null vector of A until rounding
/// errors in A x are as large as f, or along whatever to ten times that. Whether there were any. Uses
/// up state.as.
template <class T>
bool give_up_growing(State<T>& state, Sides<T>& sides, const Budget& budget);

// bcgrq_true_residual.cpp: true residuals, and what follows from them

/// To the sides, some of which are undone: that the budget is spent, or was ended.
template <class T>
void note_exhausted(Sides<T>& sides, const Budget& budget);
/// Limits, true residuals of the initial guess, in state.q too, and who is at work.
template <class T>
void begin_sides(State<T>& state, Sides<T>& sides);
/// state.q = F - A X, with its norms and the scales of A X. Uses up state.as.
template <class T>
void measure_residuals(State<T>& state, Sides<T>& sides);
/// Scales of A X, from the norms of X. Whether products with A were needed for them, which use up state.as.
template <class T>
bool measure_solutions(State<T>& state, Sides<T>& sides, const std::vector<double>& norms);
/// Whether the gap between recursive and true residual, which rounding errors open, asks for a new round from the
/// true one (van der Vorst and Ye, SIAM J. Sci. Comput. 22, 2000). Right-hand sides whose gap is at the accuracy
/// limit are done instead.
template <class T>
bool needs_residual_replacement(State<T>& state, Sides<T>& sides);
/// As a round begins: whether r^T M^-1 r of a residual has become less than it was as others began.
template <class T>
bool has_gained(Sides<T>& sides);
/// After a round: true residuals, the best iterates, who goes on. Whether another round is worth it; then state.q
/// holds F - A X for it.
template <class T>
Next conclude_round(State<T>& state, Sides<T>& sides, const Budget& budget, RoundEnd end, bool first_round);
/// The outcome of a right-hand side by its true residual.
template <class T>
Outcome judge(const State<T>& state, const Column& column);

}  // namespace block_eigs::bcgrq
