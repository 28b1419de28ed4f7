#pragma once

#include "apps/journey/proof.hpp"
#include "solver/proof/probe.hpp"

// Pairs that a probe cannot see, but that come first in another pencil: solver/proof/pencil_probe.hpp.
namespace block_eigs {

/// Whether rounding errors, not residuals, have ended the iterations for some pair. Not collective.
template <class T>
bool ends_at_limit(const EigenResult<T>& result);

/// Whether pairs may have been missed whose vectors have small x'Bx. Not collective.
template <class T>
bool hides_soft_masses(const SolveSetting<T>& setting);

/// Whether pairs may have been missed that only their rows tell from others. Not collective.
template <class T>
bool hides_stiff_parts(const SolveSetting<T>& setting, const EigenResult<T>& result);

/// Iterations that the search for soft masses takes, 0 where there is none. Not collective.
template <class T>
int iterations_for_soft_masses(const SolveSetting<T>& setting, const EigenResult<T>& result);

/// What the pencil of stiff parts shows of missed pairs, where iterations have ended at the limit of accuracy and
/// rows differ. `proof` is told that it was looked at. Collective.
template <class T>
ProbeResult<T> look_in_stiff_rows(const SolveSetting<T>& setting, const EigenResult<T>& result, int round,
                                  Proof& proof);

/// The same after that of soft masses, where there may be some. Collective.
template <class T>
ProbeResult<T> look_in_other_pencils(const SolveSetting<T>& setting, const EigenResult<T>& result, int round,
                                     Proof& proof);

}  // namespace block_eigs
