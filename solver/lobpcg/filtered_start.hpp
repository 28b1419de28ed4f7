#pragma once

#include <limits>
#include <optional>

#include "solver/davidson/davidson_plan.hpp"
#include "solver/lobpcg/lobpcg_state.hpp"

namespace block_eigs {

/// What the filters have come to. All values are those of A, or of -A where the largest pairs are asked for.
struct FilterProgress {
  SpectrumBounds bounds;
  double cut = 0.0;  ///< of the last one
  double worst =
      std::numeric_limits<double>::infinity();  ///< largest ratio of a wanted pair before it, all of them known
  double degrees = 0.0;                         ///< of all
  bool informed = false;                        ///< X approximates eigenvectors, all of them
  int locked = 0;                               ///< pairs, before the last one
};

/// Whether the start vectors of each window pass filters: asked for, B the identity, and a bound of the
/// spectrum is known.
template <class T>
bool starts_filtered(const EigenProblem<T>& problem, const LobpcgOptions& options);

/// Sharpens X by Chebyshev filters with Rayleigh-Ritz in between, and locks what is done, while that is predicted
/// to pay; each filter counts as one iteration. `informed` says that X approximates eigenvectors already, `before`
/// what earlier filters of this window have come to, where there were some. Collective.
template <class T>
void filtered_start(const LobpcgRun<T>& run, LobpcgState<T>& state, bool informed,
                    const std::optional<FilterProgress>& before = {});

}  // namespace block_eigs
