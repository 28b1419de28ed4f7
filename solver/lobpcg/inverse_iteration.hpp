#pragma once

#include <cstdint>

#include "solver/lobpcg/lobpcg_state.hpp"

// What is done where LobpcgOptions::exact_inverse says that M^-1 is (A - sigma B)^-1.
namespace block_eigs {

/// y = random columns; M^-1 times such where that is an exact inverse. Most of a random vector lies far from
/// sigma, where A is large, and Rayleigh and Ritz take it off only up to rounding errors as large as epsilon
/// ||A||. Collective.
template <class T>
void fill_random(const LobpcgRun<T>& run, LobpcgState<T>& state, BlockView<T> y, std::uint64_t seed);

/// X = M^-1 B X, orthonormal, with its Ritz values: a step of subspace iteration, after which the iteration begins
/// anew. Small problems are solved with errors of epsilon, and P and W, which hold what X has moved by, come to
/// hold little but what lies far from sigma: so much of it goes into X, as residuals of epsilon ||A||. Without P
/// and W a factor of (lambda - sigma) / ||A|| is taken off it. Collective.
template <class T>
void restart_from_inverse(const LobpcgRun<T>& run, LobpcgState<T>& state);

}  // namespace block_eigs
