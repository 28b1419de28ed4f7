#pragma once

#include "apps/journey/proof_probe.hpp"

namespace block_eigs {

/// Bytes that the calling rank takes for a certificate beside what it holds, by an analysis of A. Collective;
/// throws RunError where that fails, on all ranks.
template <class T>
double inertia_bytes(Problem<T>& problem, const Sources& sources, Which which);

/// Counts the eigenvalues on the wanted side of the last found value, and of the cluster that it belongs to where
/// that goes on beyond it; where there are more than were found, bisection over the gaps
/// between found values tells where the first is, and other pencils and a long probe are looked at for them.
/// Factors of a preconditioner that shares their analysis are lost where it finds nothing to go on from, or
/// throws: see give_factors_back. Collective; throws RunError where a factorisation fails, on all ranks.
template <class T>
Finding<T> look_by_inertia(const SolveSetting<T>& setting, const EigenResult<T>& result, int round, Proof& proof);

/// Makes the factors of the preconditioner again, where it has some, for who goes on after a count. Collective;
/// throws RunError where that fails, on all ranks.
template <class T>
void give_factors_back(const SolveSetting<T>& setting);

}  // namespace block_eigs
