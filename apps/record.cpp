#include "apps/record.hpp"

namespace block_eigs {

PairsRecord pairs_record(const Verification& verified) {
  PairsRecord record;
  record.eigenvalues = verified.eigenvalues;
  record.residual_norms = verified.residual_norms;
  record.error_bounds = verified.error_bounds;
  record.rigorous = verified.rigorous;
  for (const Outcome outcome : verified.outcomes) {
    record.converged.push_back(outcome != Outcome::not_converged);
    record.status.emplace_back(name_of(outcome));
  }
  return record;
}

HistoryRecord history_record(const std::vector<LobpcgIteration>& history, int pairs) {
  HistoryRecord record;
  record.iterations = static_cast<std::int64_t>(history.size());
  record.width = pairs;
  for (const LobpcgIteration& entry : history) {
    record.eigenvalues.insert(record.eigenvalues.end(), entry.eigenvalues.begin(), entry.eigenvalues.end());
    record.residual_norms.insert(record.residual_norms.end(), entry.residual_norms.begin(),
                                 entry.residual_norms.end());
    record.seconds.push_back(entry.seconds);
    record.active_columns.push_back(entry.active_columns);
  }
  return record;
}

}  // namespace block_eigs
