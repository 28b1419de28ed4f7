#pragma once

#include "apps/journey/proof.hpp"
#include "solver/proof/probe.hpp"

namespace block_eigs {

/// What a search for missed pairs has come to.
template <class T>
struct Finding {
  int missing = 0;          ///< at least so many pairs were missed
  DenseBlock<T> vectors;    ///< to find some of them from
  bool inaccurate = false;  ///< fewer were counted than found, which the proof's statement says
};

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
