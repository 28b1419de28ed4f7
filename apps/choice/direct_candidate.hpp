#pragma once

#include <functional>
#include <optional>

#include "apps/choice/choice.hpp"
#include "apps/choice/cost_model.hpp"
#include "apps/config/config.hpp"
#include "solver/factors/factorization.hpp"

namespace block_eigs {

/// Analyses A - sigma B; nothing where there is no memory for its factors, or this build has none. Collective.
using AnalyseFactors = std::function<std::optional<factors::FactorSize>()>;

/// Factors of A - sigma B as a way for `columns` columns at work, `iterations` to be expected of it at `iteration`
/// each without a preconditioner.
LateCandidate direct_candidate(const CostModel& costs, const PreconditionerConfig& asked, double columns,
                               double iterations, double iteration, const AnalyseFactors& analyse);

}  // namespace block_eigs
