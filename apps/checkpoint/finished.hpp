#pragma once

#include "apps/checkpoint/run_checkpoint.hpp"
#include "apps/choice/eigensolver_choice.hpp"
#include "apps/choice/linear_choice.hpp"
#include "solver/block_cg/block_cg.hpp"
#include "solver/lobpcg/lobpcg.hpp"

// What of a solve a checkpoint holds beside the state of iterations.
namespace block_eigs {

/// Iterations, times and history of ways before the one at work, and back.
template <class T>
Journey earlier(const EigenResult<T>& before);
template <class T>
void read_earlier(const Journey& journey, EigenResult<T>& before);

/// What `auto` takes at present and what its decisions rest on, and back.
void add_choice(const EigensolverChoice& choice, Journey& journey);
/// False where there is none.
bool resume_choice(const Journey& journey, EigensolverChoice& choice);
void add_choice(const LinearSolverChoice& choice, Journey& journey);
void resume_choice(const Journey& journey, LinearSolverChoice& choice);

/// Writes a result in which all `pairs` are done as the last state; nothing where they are not. Collective.
template <class T>
void write_finished(RunCheckpoint& checkpoint, int pairs, const EigenResult<T>& result);
/// It, from there. Collective; throws InputError.
template <class T>
EigenResult<T> read_finished(BlockSpace<T>& space, RunCheckpoint& checkpoint);

/// The same for linear systems.
template <class T>
void write_finished(RunCheckpoint& checkpoint, const BlockCgResult<T>& result);
template <class T>
void read_finished(BlockSpace<T>& space, RunCheckpoint& checkpoint, BlockCgResult<T>& result);

}  // namespace block_eigs
