#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/checkpoint/run_checkpoint.hpp"
#include "apps/choice/linear_choice.hpp"
#include "apps/config/config.hpp"
#include "apps/input/operators.hpp"
#include "apps/input/problem.hpp"
#include "apps/input/right_hand_sides.hpp"
#include "apps/journey/chosen_operators.hpp"
#include "apps/report/verification.hpp"
#include "solver/block_cg/block_cg.hpp"
#include "solver/report.hpp"
#include "solver/space/block_space.hpp"

// What block-solve does between reading and writing, for whoever has a config and a problem in memory.
namespace block_eigs {

/// Whether iterations run in float under a solution in double.
template <class T>
bool iterates_in_float(const LinearSolverConfig& config);

/// How a system is solved: by what `config` says, or by what is chosen in place of `auto`.
template <class T>
struct LinearSolver {
  RunConfig config;                          ///< as it was chosen
  std::optional<LinearSolverChoice> choice;  ///< where there is one
  std::unique_ptr<Operators<T>> operators;
  std::string unfit{};              ///< what factors that `auto` tried have found A not to be fit for
  std::function<void()> changed{};  ///< called when other operators have taken the place of the first
};

/// Chooses, or goes on with what `checkpoint` found, tells `announce` what and why, and makes the preconditioner.
/// `problem` was read with rows where the config's type needs them. Collective; throws InputError where a
/// preconditioner cannot be made.
template <class T>
LinearSolver<T> make_linear_solver(Problem<T>& problem, const RunConfig& config, GlobalIndex right_hand_sides,
                                   const Announce& announce = {}, const RunCheckpoint* checkpoint = nullptr);

/// X of A X = F from `initial`, which may have no columns. Where `auto` changes its mind `solver` changes, and
/// `announce` is told what is taken instead, and why. It ends early where `wanted` says no. States go to
/// `checkpoint`, which may be null, and come from there. Collective; throws as block_cg does.
template <class T>
BlockCgResult<T> solve_linear(BlockSpace<T>& space, Problem<T>& problem, LinearSolver<T>& solver,
                              const DenseBlock<T>& f, DenseBlock<T> initial, const Observer& observer = {},
                              const Announce& announce = {}, const Proceed& wanted = {},
                              RunCheckpoint* checkpoint = nullptr);

/// Residuals of what will be saved. Where the run was in double they are known. Collective.
template <class T>
SolutionCheck verify_solutions(Problem<T>& problem, const Sources& sources, const RunConfig& config,
                               RightHandSides& sides, const DenseBlock<T>& f, const BlockCgResult<T>& result);

}  // namespace block_eigs
