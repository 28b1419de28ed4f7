#pragma once

#include "apps/config/config.hpp"
#include "apps/input/operators.hpp"
#include "apps/input/problem.hpp"
#include "apps/input/right_hand_sides.hpp"
#include "apps/report/verification.hpp"
#include "solver/block_cg/block_cg.hpp"
#include "solver/report.hpp"
#include "solver/space/block_space.hpp"

// What block-solve does between reading and writing, for whoever has a config and a problem in memory.
namespace block_eigs {

/// Whether iterations run in float under a solution in double.
template <class T>
bool iterates_in_float(const LinearSolverConfig& config);

/// Solves A X = F from `initial` as `config` says. It ends early where `wanted` says no. Collective; throws as
/// block_cg does.
template <class T>
BlockCgResult<T> solve_linear(BlockSpace<T>& space, LinearOperator<T>& a, const Operators<T>& operators,
                              const DenseBlock<T>& f, DenseBlock<T> initial, const LinearSolverConfig& config,
                              const Observer& observer, const Proceed& wanted = {});

/// Residuals of what will be saved. Where the run was in double they are known. Collective.
template <class T>
SolutionCheck verify_solutions(Problem<T>& problem, const Sources& sources, const RunConfig& config,
                               RightHandSides& sides, const DenseBlock<T>& f, const BlockCgResult<T>& result);

}  // namespace block_eigs
