#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "apps/journey/proof.hpp"
#include "solver/proof/probe.hpp"

namespace block_eigs {

/// What a search for missed pairs has come to.
template <class T>
struct Finding {
  int missing = 0;        ///< at least so many pairs were missed
  DenseBlock<T> vectors;  ///< to find some of them from
  /// A count says nothing, and the proof's statement so: it is less than what was found, or values are known less
  /// well than they lie apart.
  bool inaccurate = false;
};

/// Far from the seeds that users count up, and from those of other rounds. Not collective.
template <class T>
std::uint64_t probe_seed(const SolveSetting<T>& setting, int round);

/// What no eigenvalue is much larger than in magnitude, and rounding errors are in proportion to: the norm of A,
/// with B what rows come to that are large in A or small in B. Collective.
template <class T>
double size_of_values(const SolveSetting<T>& setting);

/// What the found values extend over from zero on, whatever they are beside rounding errors. Not collective.
template <class T>
double extent_of(const EigenResult<T>& result) {
  if (result.eigenvalues.empty()) return 0.0;
  const double last = result.eigenvalues.back();
  return std::max(std::abs(last), std::abs(last - result.eigenvalues.front()));
}

/// What the found values extend over, but for a few far before the others, and from zero on where they do not go
/// across it; 0 where that is no more than rounding errors. Not collective.
template <class T>
double reach_of(const SolveSetting<T>& setting, const EigenResult<T>& result);

/// Whether a probe can say how sure it is. Not collective.
template <class T>
bool promises_something(const SolveSetting<T>& setting);

/// The operators of the solve, as a probe takes them: without the preconditioner where the solve did not need it.
template <class T>
ProbeOperators<T> probe_operators(const SolveSetting<T>& setting, const EigenResult<T>& result);

template <class T>
FoundPairs<T> found_pairs(const SolveSetting<T>& setting, const EigenResult<T>& result);

/// A probe with a filter of that degree, in float if so asked, its random numbers others than the solve's and
/// those of other rounds. Collective.
template <class T>
ProbeResult<T> probe_result(const SolveSetting<T>& setting, const EigenResult<T>& result, int degree,
                            bool in_float, int round);

/// A probe that costs at most a tenth of the solve, counted in products. Collective.
template <class T>
Finding<T> look_by_probe(const SolveSetting<T>& setting, const EigenResult<T>& result, int round, Proof& proof);

}  // namespace block_eigs
