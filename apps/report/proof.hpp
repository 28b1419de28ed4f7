#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace block_eigs {

/// What was done to know that no pair was missed, and what came of it.
struct Proof {
  std::string made =
      "residuals";        ///< residuals (nothing), dense, bounds, probe, inertia; none: asked for, but not made
  std::string statement;  ///< a sentence for the user; empty where nothing was asked for
  bool failed = false;    ///< a certificate was asked for, and could not be had
  int missing = 0;        ///< pairs that are known to be missing still; at least so many found are too far
  int recovered = 0;      ///< pairs that the first solve had missed
  double confidence = std::numeric_limits<double>::quiet_NaN();    ///< of the probe
  double smallest_gap = std::numeric_limits<double>::quiet_NaN();  ///< of the probe: see ProbeResult
  double shift = std::numeric_limits<double>::quiet_NaN();         ///< where inertia was taken
  std::int64_t counted = -1;  ///< eigenvalues on the wanted side of the shift; -1: not counted
  /// Where inertia has found the first of the pairs to be that was missing, also where it was recovered; from is
  /// NaN where that is before all found values, both are where none was.
  double missing_from = std::numeric_limits<double>::quiet_NaN();
  double missing_to = std::numeric_limits<double>::quiet_NaN();
  double memory = 0.0;  ///< for factors, of the calling process, as foreseen before they were made; bytes
  bool looked_in_other_pencil = false;  ///< for stiff parts, or vectors of small x'Bx
  double seconds = 0.0;                 ///< without going on with the solve
};

}  // namespace block_eigs
