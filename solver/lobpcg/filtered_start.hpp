#pragma once

#include "solver/lobpcg/lobpcg_state.hpp"

namespace block_eigs {

/// Whether the start vectors of each window pass filters: asked for, B the identity, and a bound of the
/// spectrum is known.
template <class T>
bool starts_filtered(const EigenProblem<T>& problem, const LobpcgOptions& options);

/// Sharpens X by Chebyshev filters with Rayleigh-Ritz in between, and locks what is done, while that is predicted
/// to pay; each filter counts as one iteration. `informed` says that X approximates eigenvectors already.
/// Collective.
template <class T>
void filtered_start(const LobpcgRun<T>& run, LobpcgState<T>& state, bool informed);

}  // namespace block_eigs
