#pragma once

#include "solver/lobpcg/lobpcg_state.hpp"
#include "solver/small/rayleigh_ritz.hpp"

// The steps of an iteration, in the order in which they are taken. All are collective.
namespace block_eigs {

/// The leading pairs that are done leave X for the locked ones.
template <class T>
void lock_converged(const LobpcgRun<T>& run, LobpcgState<T>& state);

/// W = M^-1 R and, where the window has room, random columns behind it; returns how many. Throws NumericalError
/// where M is seen not to be positive definite.
template <class T>
int expand(const LobpcgRun<T>& run, LobpcgState<T>& state);

/// W made orthogonal to what is deflated, and orthonormal to X and P too where the tolerance is near rounding
/// errors; B W.
template <class T>
void orthogonalize(const LobpcgRun<T>& run, LobpcgState<T>& state);

/// W -= V (V^T B W), V deflated; once more where that took away most of a column.
template <class T>
void deflate(const EigenProblem<T>& problem, LobpcgState<T>& state);

/// The small eigenproblem of [X P W], from [X P W]^T [A W, B W] and what is known of X and P, for `wanted` pairs.
/// W is used as it is while the basis is well conditioned, which is nearly always; else it is made orthonormal
/// first, A W following by the same coefficients. Without values where nothing new is left in W.
template <class T>
RitzSolution rayleigh_ritz(const LobpcgRun<T>& run, LobpcgState<T>& state, int wanted);

/// [X P] <- [X P W] C, images by the same coefficients, R = A X - B X Lambda.
template <class T>
void update(const LobpcgRun<T>& run, LobpcgState<T>& state, const RitzSolution& solution);

/// A X, A P and R computed anew where rounding errors of the updates come near the tolerance, so that they do not
/// add up: every forty iterations, which keeps the extra products at 5%.
template <class T>
void refresh(const LobpcgRun<T>& run, LobpcgState<T>& state);

/// Takes note of an iteration that multiplied A with `products` columns, of `columns` vectors, and tells the
/// observer.
template <class T>
void report(const LobpcgRun<T>& run, const LobpcgState<T>& state, int columns, int products);

/// Rayleigh-Ritz on X, B-orthonormal, alone: A X anew, X turned, R; P and W are dropped.
template <class T>
void rayleigh_ritz_of_x(const LobpcgRun<T>& run, LobpcgState<T>& state);

/// Largest residual over its limit among the wanted pairs at work; 1 or less is done.
template <class T>
double worst_ratio(const LobpcgRun<T>& run, const LobpcgState<T>& state);

}  // namespace block_eigs
