#include "apps/choice/direct_candidate.hpp"

namespace block_eigs {

namespace {

Candidate priced(const CostModel& costs, const PreconditionerConfig& asked, double columns, double iterations,
                 double iteration, const factors::FactorSize& size) {
  Candidate candidate{of_type(asked, PreconditionerType::direct)};
  candidate.setup = costs.factorisation(size);
  candidate.step = iteration + costs.substitution(size, columns);
  candidate.cost = candidate.setup + iterations * candidate.step;
  candidate.reason = "factors are expected to be cheaper than iterations";
  return candidate;
}

}  // namespace

LateCandidate direct_candidate(const CostModel& costs, const PreconditionerConfig& asked, double columns,
                               double iterations, double iteration, const AnalyseFactors& analyse) {
  if (!analyse) return {};
  const auto with = [=](const factors::FactorSize& size) {
    return priced(costs, asked, columns, iterations, iteration, size);
  };
  const auto ask = [=]() -> std::optional<Candidate> {
    const std::optional<factors::FactorSize> size = analyse();
    if (!size) return std::nullopt;
    return with(*size);
  };
  return {costs.analysis() + with({}).cost, ask};
}

}  // namespace block_eigs
