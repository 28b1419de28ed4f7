#pragma once

#include <functional>
#include <limits>
#include <span>

namespace block_eigs {

/// How one eigenpair or right-hand side ended.
enum class Outcome {
  converged,          ///< the tolerance asked for is met
  at_accuracy_limit,  ///< as good as the arithmetic allows; counts as done
  not_converged
};

inline const char* name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::converged:
      return "converged";
    case Outcome::at_accuracy_limit:
      return "at_accuracy_limit";
    case Outcome::not_converged:
      return "not_converged";
  }
  return "";
}

/// Why a solve ended before everything was done.
enum class Limitation {
  none,
  iterations,      ///< max_iterations
  precision,       ///< nothing new is to be had in this arithmetic
  preconditioner,  ///< not positive definite, or values that are not finite
  stopped          ///< on request
};

/// What a solver tells about itself after every iteration. The spans are valid during the call alone.
struct IterationReport {
  int iteration = 0;
  int wanted = 0;          ///< pairs or right-hand sides asked for
  int converged = 0;       ///< of those, done so far
  int active_columns = 0;  ///< vectors at work in this iteration
  int products = 0;        ///< columns multiplied by A in it: as many, or more where it was a filter
  /// Columns that filters to come are predicted to multiply until all is done; NaN where nothing is predicted.
  double products_to_come = std::numeric_limits<double>::quiet_NaN();
  double worst = 0.0;      ///< largest residual over its limit among the wanted at work; 1 or less is done
  double distance = 0.0;   ///< likewise over what counts in the end, where a phase in float has other limits
  int last_iteration = 0;  ///< with which the solve ends at the latest; 0 where that is not known
  double seconds = 0.0;    ///< since the solver began, set-up included
  std::span<const double> eigenvalues;     ///< wanted ones, best current values; empty for linear systems
  std::span<const double> residual_norms;  ///< as many; NaN where none is known yet
  bool in_float = false;                   ///< a phase in float, whose `worst` has limits of its own
};

/// Called on every rank after every iteration.
using Observer = std::function<void(const IterationReport&)>;
/// Asked on every rank after every iteration whether to go on. Must answer alike on all ranks, so not by the
/// clock; on `false` the solve ends with the best that it has.
using Proceed = std::function<bool(const IterationReport&)>;

}  // namespace block_eigs
