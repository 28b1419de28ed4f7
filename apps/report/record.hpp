#pragma once

#include "apps/config/config.hpp"
#include "apps/input/problem.hpp"
#include "apps/journey/session.hpp"
#include "apps/journey/verify.hpp"
#include "apps/journey/verify_solution.hpp"
#include "io/result/result_file.hpp"
#include "solver/block_cg/block_cg.hpp"
#include "solver/lobpcg/lobpcg.hpp"

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
