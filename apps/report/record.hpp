#pragma once

#include <string>
#include <vector>

#include "apps/config/config.hpp"
#include "apps/input/problem.hpp"
#include "apps/report/proof.hpp"
#include "apps/report/verification.hpp"
#include "io/result/result_file.hpp"
#include "solver/block_cg/block_cg.hpp"
#include "solver/lobpcg/lobpcg.hpp"

namespace block_eigs {

/// What a solver took.
struct Spent {
  double setup_seconds = 0.0;  ///< of preconditioner and start; building the matrices apart
  double solve_seconds = 0.0;
  int iterations = 0;
  std::string remark;  ///< why it ended early
};

/// What a result file says of a run of `program`, its vectors apart.
template <class T>
RunRecord run_record(const Problem<T>& problem, const Sources& sources, const RunConfig& config,
                     const std::string& program, const Spent& spent);

/// Adds what was at work as preconditioner: `chosen` by the program or given, what building the first came to.
void describe_course(RunRecord& run, bool chosen, std::string made, std::vector<ChoiceRecord> preconditioners);

/// What a result file says of a solver's result and its verification.
PairsRecord pairs_record(const Verification& verified, const Proof& proof);
SolutionsRecord solutions_record(const SolutionCheck& checked, const std::vector<double>& recursive_residual_norms,
                                 const std::vector<int>& iterations);
HistoryRecord history_record(const std::vector<LobpcgIteration>& history, int pairs);
HistoryRecord history_record(const std::vector<BlockCgIteration>& history, int right_hand_sides);

}  // namespace block_eigs
