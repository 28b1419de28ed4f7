#pragma once

#include <limits>
#include <vector>

#include "solver/lobpcg/lobpcg_state.hpp"
#include "solver/small/rayleigh_ritz.hpp"

// The steps of an iteration, in the order in which they are taken. All are collective.
namespace block_eigs {

/// The leading pairs that are done leave X for the locked ones.
template <class T>
void lock_converged(const LobpcgRun<T>& run, LobpcgState<T>& state);

/// Random columns that W gets as the window is now: there is room, and it is to be filled.
template <class T>
int fresh_columns(const LobpcgRun<T>& run, const LobpcgState<T>& state);

/// Columns of X that get directions in W: all, or the wanted ones while guard vectors rest. These may once
/// residuals are within some 300 times their limits, as long as there are twice as many wanted vectors: a few
/// iterations are left then, and those without guard vectors cost less. With more before them, or where the last
/// wanted vectors are left alone with them, these would wait for them, copies of one eigenvalue say.
template <class T>
int columns_with_directions(const LobpcgRun<T>& run, const LobpcgState<T>& state);

/// W = M^-1 R and, where the window has room, random columns behind it; returns how many. R is freed of X before
/// where the tolerance is near rounding errors.
template <class T>
int expand(const LobpcgRun<T>& run, LobpcgState<T>& state);

/// W made orthogonal to what is deflated, and orthonormal to X and P too where the tolerance is near rounding
/// errors; B W. False where r^T M^-1 r of W = [M^-1 R, `fresh` columns] is negative beyond rounding errors or not
/// finite: M is not positive definite. That is looked at in the first iterations and in every tenth.
template <class T>
bool orthogonalize(const LobpcgRun<T>& run, LobpcgState<T>& state, int fresh);

/// W, whose image B W is there, made orthonormal, and orthogonal to what is deflated, X and P. Dependent columns
/// are dropped, all of them where values are not finite. `products` as for orthonormalize.
template <class T>
void orthonormalize_w(const LobpcgRun<T>& run, LobpcgState<T>& state, const SmallMatrix* products = nullptr);

/// W -= V (V^T B W), V deflated; once more where that took away most of a column.
template <class T>
void deflate(const EigenProblem<T>& problem, LobpcgState<T>& state);
/// The same for other vectors than W.
template <class T>
void deflate(const EigenProblem<T>& problem, const LobpcgState<T>& state, BlockView<T> w);

/// The small eigenproblem of [X P W], from [X P W]^T [A W, B W] and what is known of X and P, for `wanted` pairs.
/// W is used as it is while the basis is well conditioned, which is nearly always; else, and where Ritz values
/// come out that cannot be, the resorts are gone through. Without values where nothing new is left in W, X being
/// as good as it was.
template <class T>
RitzSolution rayleigh_ritz(const LobpcgRun<T>& run, LobpcgState<T>& state, int wanted);

/// What is done to a basis [X P W] that has become dependent, one after the other: W made orthonormal to X and P;
/// P dropped; X made orthonormal anew, with images computed anew, and W to it.
enum class Resort { orthonormal_w, without_p, renewed_x };
template <class T>
void resort_to(const LobpcgRun<T>& run, LobpcgState<T>& state, Resort resort);

/// X^T R along with `sums` that are formed as R is, where `expand` will ask for it: the tolerance is near rounding
/// errors.
template <class T>
void add_x_along_r(const LobpcgRun<T>& run, LobpcgState<T>& state, Sums& sums) {
  state.x_along_r = {};
  if (state.rounding.near_tolerance)
    run.problem.space.gram({state.x.v()}, {state.r.view()}, state.x_along_r, sums);
}

/// Whether W of the next step is R as it is, so that the step can begin before the norms of R are known.
template <class T>
bool may_look_ahead(const LobpcgRun<T>& run, const LobpcgState<T>& state);
/// Begins the next step: W = R, A W, and the products, whose W^T W has the norms of R. That spares a pass over R,
/// a message, and on GPUs the wait for them. What the storage of R holds meanwhile is nobody's.
template <class T>
void look_ahead(const LobpcgRun<T>& run, LobpcgState<T>& state, std::vector<double>& norms);
/// R is where it was, and the next step begins anew. Nothing happens where none has begun.
template <class T>
void step_back(LobpcgState<T>& state);

/// [X P] <- [X P W] C, images by the same coefficients, R = A X - B X Lambda; X is turned where it mixes a wanted
/// vector with guard vectors (separate_from_guards). With `looks_ahead` the next step has begun where that may be.
template <class T>
void update(const LobpcgRun<T>& run, LobpcgState<T>& state, const RitzSolution& solution,
            bool looks_ahead = false);

/// Looks after what iterations lose. Where coefficients have amplified rounding errors of X and P to where the
/// residuals feel them, the Gram matrices of the next iteration are those of all of [X P W], and X and P are made
/// orthogonal to the deflated vectors where they no longer are. Where rounding errors come near the tolerance,
/// images and R are computed anew every forty iterations, which keeps the extra products at 5%.
template <class T>
void refresh(const LobpcgRun<T>& run, LobpcgState<T>& state);

/// Takes note of an iteration that multiplied A with `products` columns, of `columns` vectors, and tells the
/// observer, with `products_to_come` where filters can predict them. Ends the budget where the iteration is not to
/// go on.
template <class T>
void report(const LobpcgRun<T>& run, const LobpcgState<T>& state, int columns, int products,
            double products_to_come = std::numeric_limits<double>::quiet_NaN());

/// Rayleigh-Ritz on X, B-orthonormal, alone: A X anew, X turned, R; P and W are dropped.
template <class T>
void rayleigh_ritz_of_x(const LobpcgRun<T>& run, LobpcgState<T>& state);

/// The same on X that is orthonormal but for rounding errors of a lower precision: it is made so by the step
/// itself, which spares a pass over it. False, with X as it was, where it differs by more.
template <class T>
bool rayleigh_ritz_of_rounded_x(const LobpcgRun<T>& run, LobpcgState<T>& state);

/// Takes X, orthonormal Ritz vectors of `values`, with A X, B the identity: R, and what is told of pairs. P and W
/// are dropped.
template <class T>
void take_ritz_vectors(const LobpcgRun<T>& run, LobpcgState<T>& state, std::vector<double> values,
                       ConstBlockView<T> ax);

/// When pairs are done, by these norms of A and B. Not collective.
template <class T>
ResidualTest residual_test(const LobpcgRun<T>& run, const OperatorNorms& norms);

/// Largest residual over its limit among the wanted pairs at work; 1 or less is done.
template <class T>
double worst_ratio(const LobpcgRun<T>& run, const LobpcgState<T>& state);

}  // namespace block_eigs
