#pragma once

#include <limits>
#include <vector>

#include "apps/config/config.hpp"
#include "apps/report/advice_solve.hpp"
#include "apps/report/verification.hpp"
#include "solver/lobpcg/lobpcg.hpp"

namespace block_eigs {

/// What is known of a run of block-eigs that did not finish all pairs.
struct UnfinishedEigensolve {
  Limitation limitation = Limitation::none;
  /// Largest tolerance that a pair that has not converged would meet; 0 where there is none, infinity where one
  /// was not even begun.
  double attained = 0.0;
  double requested = 0.0;  ///< tolerance
  /// What all of them meet by the norms of A and B; infinity where one does not, or nothing is known.
  double by_norm = 0.0;
  /// Of that pair, iteration by iteration, in the same units.
  std::vector<double> course;
  /// No eigenvalue found lies below it by its residual; NaN without one.
  double lowest = std::numeric_limits<double>::quiet_NaN();
  bool indefinite = false;    ///< a value lies below zero by more than its residual
  int columns = 0;            ///< that were at work
  bool entries_known = true;  ///< of A, so that a preconditioner can be made of them
  /// Whether the later half of the values lie so close together that columns may mix eigenvectors of neighbours:
  /// there may be more of these than columns.
  bool clustered = false;
};

/// From a result, verified, for what `options` asked for and that came with as many columns. Values and history
/// are in the same units. Not collective.
UnfinishedEigensolve unfinished_eigensolve(const Verification& verified, Limitation limitation,
                                           const std::vector<LobpcgIteration>& history,
                                           const LobpcgOptions& options);

/// What was limiting and what to try next; nothing where all that iterations were asked for is done.
Advice advise(const UnfinishedEigensolve& run, const RunConfig& config);

}  // namespace block_eigs
