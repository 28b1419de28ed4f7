#pragma once

#include "apps/journey/proof_probe.hpp"

namespace block_eigs {

/// Counts the eigenvalues on the wanted side of the last found value, and of the cluster that it belongs to where
/// that goes on beyond it; where there are more than were found, a long probe looks for them. Collective; throws
/// RunError where a factorisation fails.
template <class T>
Finding<T> look_by_inertia(const SolveSetting<T>& setting, const EigenResult<T>& result, int round, Proof& proof);

}  // namespace block_eigs
