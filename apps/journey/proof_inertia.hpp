#pragma once

#include "apps/journey/proof_probe.hpp"
#include "solver/factors/factorization.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

/// B has negative eigenvalues, so that what was solved is no problem of this kind. From counts, which all ranks
/// share.
class IndefiniteMass final : public InputError, public OnAllRanks {
 public:
  using InputError::InputError;
};

/// Who wants the factors.
inline constexpr factors::Use inertia_use{"eigensolver.verify: inertia",
                                          "use verify: probe, which needs no factorisation"};

/// Bytes that the calling rank takes for a certificate beside what it holds, by an analysis of A. Collective;
/// throws RunError where that fails, on all ranks.
template <class T>
double inertia_bytes(const Problem<T>& problem, const Sources& sources, Which which);

/// Counts the eigenvalues on the wanted side of the last found value, and of the cluster that it belongs to where
/// that goes on beyond it; where there are more than were found, bisection over the gaps
/// between found values tells where the first is, and a long probe looks for them. Collective; throws
/// RunError where a factorisation fails.
template <class T>
Finding<T> look_by_inertia(const SolveSetting<T>& setting, const EigenResult<T>& result, int round, Proof& proof);

}  // namespace block_eigs
