#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "apps/checkpoint/run_checkpoint.hpp"
#include "apps/choice/eigensolver_choice.hpp"
#include "apps/config/config.hpp"
#include "apps/input/block_input.hpp"
#include "apps/input/operators.hpp"
#include "apps/input/problem.hpp"
#include "apps/journey/chosen_operators.hpp"
#include "apps/journey/lone_pairs.hpp"
#include "apps/report/proof.hpp"
#include "apps/report/verification.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "solver/report.hpp"
#include "solver/space/block_space.hpp"

// What block-eigs does between reading and writing, for whoever has a config and a problem in memory.
namespace block_eigs {

/// Whether iterations begin in float under a result in double.
template <class T>
bool begins_in_float(const EigensolverConfig& config, bool with_mass);

/// How a problem is solved: by what `config` says, or by what is chosen in place of `auto`.
template <class T>
struct EigenSolver {
  RunConfig config;                         ///< as it was chosen, for pairs that are not known
  LonePairs lone;                           ///< those that are
  std::optional<EigensolverChoice> choice;  ///< where there is one
  std::unique_ptr<Operators<T>> operators;
  std::function<void()> changed{};  ///< called when other operators, or columns, have taken the place of the first
};

/// Takes rows that stand alone out of `space` and `problem`, where `constraints` leave them, chooses, and makes
/// the preconditioner. `problem` was read with rows where the config's type needs them. Collective; throws
/// InputError where a preconditioner cannot be made. What `checkpoint`, which may be null, found is gone on with.
template <class T>
EigenSolver<T> make_solver(BlockSpace<T>& space, Problem<T>& problem, const RunConfig& config,
                           const DenseBlock<T>& constraints, const RunCheckpoint* checkpoint = nullptr);

/// The eigenpairs that the config asks for, from `start`, whose initial vectors are used up, or from what the
/// preconditioner has to begin with; an empty result where the config asks for none. Where
/// `auto` changes its mind `solver` changes, and `announce` is told what is taken instead, and why. It ends early
/// where `wanted` says no. States go to `checkpoint` and come from there. Collective; throws as lobpcg does.
template <class T>
EigenResult<T> eigensolve(BlockSpace<T>& space, Problem<T>& problem, EigenSolver<T>& solver,
                          StartVectors<T>& start, const Observer& observer, const Announce& announce = {},
                          const Proceed& wanted = {}, RunCheckpoint* checkpoint = nullptr);

/// Looks for pairs that `result` misses, as the config's `verify` says, and goes on with `solver` where there are
/// any, as long as `wanted` says so: see prove. Known pairs are added then. `granted`: see SolveSetting.
/// Collective.
template <class T>
Proof prove_result(BlockSpace<T>& space, Problem<T>& problem, const Sources& sources, const EigenSolver<T>& solver,
                   const DenseBlock<T>& constraints, const Observer& observer, EigenResult<T>& result,
                   double granted = 0.0, const Proceed& wanted = {});

/// For a program of its own: about what its start takes, a third of a second.
inline constexpr double granted_to_programs = 2.5e9;

/// Residuals and bounds of what will be saved, from A and B in double, pairs in order. Collective.
template <class T>
Verification verify_result(BlockSpace<T>& space, Problem<T>& problem, const Sources& sources,
                           const RunConfig& config, EigenResult<T>& result);

}  // namespace block_eigs
