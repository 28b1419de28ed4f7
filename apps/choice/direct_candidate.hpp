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

/// What a way with factors is expected to cost once there are any.
struct WorkWithFactors {
  double step = 0.0;  ///< of an iteration
  double all = 0.0;
};
using PriceWork = std::function<WorkWithFactors(const factors::FactorSize&)>;

/// Factors of A - sigma B as a way, the work with them priced by `price`.
LateCandidate direct_candidate(const CostModel& costs, const PreconditionerConfig& asked, const PriceWork& price,
                               const AnalyseFactors& analyse);

}  // namespace block_eigs
