#include "apps/choice/direct_candidate.hpp"

namespace block_eigs {

LateCandidate direct_candidate(const CostModel& costs, const PreconditionerConfig& asked, const PriceWork& price,
                               const AnalyseFactors& analyse) {
  if (!analyse) return {};
  const auto with = [=](const factors::FactorSize& size) {
    Candidate candidate{of_type(asked, PreconditionerType::direct)};
    const WorkWithFactors work = price(size);
    candidate.setup = costs.factorisation(size);
    candidate.step = work.step;
    candidate.cost = candidate.setup + work.all;
    candidate.reason = "factors are expected to be cheaper than iterations";
    return candidate;
  };
  const auto ask = [=]() -> std::optional<Candidate> {
    const std::optional<factors::FactorSize> size = analyse();
    if (!size) return std::nullopt;
    return with(*size);
  };
  return {costs.analysis() + with({}).cost, ask};
}

}  // namespace block_eigs
