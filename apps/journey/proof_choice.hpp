#pragma once

#include "apps/journey/proof.hpp"
#include "solver/proof/effort.hpp"

namespace block_eigs {

/// What `verify: auto` comes to for this result: inertia where its factors are foreseen to cost no more than a
/// share of what the solve has, or what a probe would spend on searches that they spare; else a probe. By a model
/// of costs, never by a clock. An analysis may have been made then, which problem.factorization keeps. Collective.
template <class T>
Verify chosen_proof(const SolveSetting<T>& setting, const EigenResult<T>& result);

/// Whether a short probe fits into what is granted beside the solve. Not collective.
template <class T>
bool grants_probe(const SolveSetting<T>& setting, const ProbeKind& kind);

}  // namespace block_eigs
