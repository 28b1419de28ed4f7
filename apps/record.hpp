#pragma once

#include "apps/config.hpp"
#include "apps/problem.hpp"
#include "apps/session.hpp"
#include "apps/verify.hpp"
#include "apps/verify_solution.hpp"
#include "io/result_file.hpp"
#include "solver/block_cg.hpp"
#include "solver/lobpcg.hpp"

namespace block_eigs {

/// What a result file says of a run before it is known what came of it.
template <class T>
RunRecord run_record(const Problem<T>& problem, const Sources& sources, const RunConfig& config,
                     const Arguments& arguments);

/// What a result file says of a solver's result and its verification.
PairsRecord pairs_record(const Verification& verified);
SolutionsRecord solutions_record(const SolutionCheck& checked, const std::vector<double>& recursive_residual_norms,
                                 const std::vector<int>& iterations);
HistoryRecord history_record(const std::vector<LobpcgIteration>& history, int pairs);
HistoryRecord history_record(const std::vector<BlockCgIteration>& history, int right_hand_sides);

}  // namespace block_eigs
