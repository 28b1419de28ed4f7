#pragma once

#include <optional>

#include "solver/lobpcg/filtered_start.hpp"
#include "solver/lobpcg/lobpcg_state.hpp"

namespace block_eigs {

/// What a Chebyshev-Davidson iteration has come to.
enum class DavidsonEnd {
  done,      ///< all wanted pairs are within their limits
  rounding,  ///< in a phase that another one follows: residuals have come near rounding errors, or stopped falling
  left,      ///< the budget is used up, or nothing more is expected of it
  copies,    ///< behind X there are more vectors of the last wanted value, which mix with those of X
  no_memory,   ///< for the basis; nothing has happened
  no_outliers  ///< for which alone it was to be; W is used up, X as it was
};

/// Block Chebyshev-Davidson iteration (Zhou, J. Comput. Phys. 229, 2010) for B = identity and A of known norm:
/// filters of the lowest Ritz vectors that are not done are appended to an orthonormal basis, from which all Ritz
/// pairs come; thick restarts. In the end X holds the lowest Ritz vectors and P those that follow, with images and
/// residuals, as LOBPCG has them. Pairs that are done stay in the basis. Each filter counts as one iteration. The
/// block holds all pairs of the run. Where the last wanted value is there more often than X has columns, the basis
/// is of no use: Rayleigh-Ritz, to which vectors of one value are all the same once their residuals are below the
/// root of rounding errors, mixes those of X, however accurate, with less accurate ones behind it. P stays empty
/// then, and `progress` is what filters of X alone go on from. `informed` says that X and P approximate
/// eigenvectors already; with `progress`, and state.basis, it goes on where a checkpoint was written. Collective.
template <class T>
DavidsonEnd davidson_start(const LobpcgRun<T>& run, LobpcgState<T>& state, bool informed,
                           std::optional<FilterProgress>& progress);

}  // namespace block_eigs
