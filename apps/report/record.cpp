#include "apps/report/record.hpp"

#include <utility>

#include "apps/report/text.hpp"

namespace block_eigs {

template <class T>
RunRecord run_record(const Problem<T>& problem, const Sources& sources, const RunConfig& config,
                     const std::string& program, const Spent& spent) {
  RunRecord run;
  run.program = program;
  run.version = version();
  run.config = resolved_config(config);
  run.matrix = sources.a->description();
  run.rows = sources.a->rows();
  run.nonzeros = problem.a->global_nonzeros() + problem.couplings_of_a;
  run.ranks = problem.context.comm.size();
  run.device = problem.context.device->name();
  run.setup_seconds = problem.build_seconds + spent.setup_seconds;
  run.solve_seconds = spent.solve_seconds;
  run.iterations = spent.iterations;
  run.remark = spent.remark;
  return run;
}

const char* name_of(BoundKind kind) {
  switch (kind) {
    case BoundKind::rigorous:
      return "rigorous";
    case BoundKind::probable:
      return "probable";
    case BoundKind::unknown:
      return "unknown";
  }
  return "";
}

void describe_course(RunRecord& run, bool chosen, std::string made, std::vector<ChoiceRecord> preconditioners) {
  run.chosen = chosen;
  run.preconditioner_made = std::move(made);
  run.preconditioners = std::move(preconditioners);
}

PairsRecord pairs_record(const Verification& verified, const Proof& proof) {
  PairsRecord record;
  record.eigenvalues = verified.eigenvalues;
  record.residual_norms = verified.residual_norms;
  record.error_bounds = verified.error_bounds;
  record.rigorous = verified.bounds == BoundKind::rigorous;
  record.bounds = name_of(verified.bounds);
  record.attained_tolerances = verified.attained;
  record.requested_tolerance = verified.requested;
  record.orthonormality = verified.orthonormality;
  record.proof = {proof.made,         proof.statement,    proof.missing, proof.recovered,
                  proof.confidence,   proof.smallest_gap, proof.shift,   proof.counted,
                  proof.missing_from, proof.missing_to,   proof.seconds, proof.failed};
  for (const Outcome outcome : verified.outcomes) {
    record.converged.push_back(outcome != Outcome::not_converged);
    record.status.emplace_back(name_of(outcome));
  }
  return record;
}

SolutionsRecord solutions_record(const SolutionCheck& checked, const std::vector<double>& recursive_residual_norms,
                                 const std::vector<int>& iterations) {
  SolutionsRecord record;
  record.rhs_norms = checked.rhs_norms;
  record.residual_norms = checked.residual_norms;
  record.recursive_residual_norms = recursive_residual_norms;
  record.iterations.assign(iterations.begin(), iterations.end());
  for (const Outcome outcome : checked.outcomes) {
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
    record.products.push_back(entry.products);
    record.in_float.push_back(entry.in_float);
  }
  return record;
}

HistoryRecord history_record(const std::vector<BlockCgIteration>& history, int right_hand_sides) {
  HistoryRecord record;
  record.iterations = static_cast<std::int64_t>(history.size());
  record.width = right_hand_sides;
  for (const BlockCgIteration& entry : history) {
    record.residual_norms.insert(record.residual_norms.end(), entry.residual_norms.begin(),
                                 entry.residual_norms.end());
    record.seconds.push_back(entry.seconds);
    record.active_columns.push_back(entry.active_columns);
    record.in_float.push_back(entry.in_float);
  }
  return record;
}

template RunRecord run_record(const Problem<float>&, const Sources&, const RunConfig&, const std::string&,
                              const Spent&);
template RunRecord run_record(const Problem<double>&, const Sources&, const RunConfig&, const std::string&,
                              const Spent&);

}  // namespace block_eigs
