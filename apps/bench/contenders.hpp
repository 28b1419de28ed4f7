#pragma once

#include <string>

#include "apps/bench/contest.hpp"
#include "apps/config/config.hpp"
#include "apps/input/operators.hpp"
#include "apps/input/problem.hpp"
#include "apps/input/stopwatch.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/matrix/csr_rows.hpp"

namespace block_eigs::bench {

/// The matrix that all contenders are given: the 7-point Laplacian of a cube, own rows in host memory.
struct Question {
  Context<double> context;
  Partition partition;
  CsrRows rows;
};

/// Collective; throws InputError where there is no such device.
Question make_question(const ContestOptions& options);

/// What the programs would read from a config: `text` has the sections of the solvers.
RunConfig config_of(const ContestOptions& options, const std::string& text);

/// The value of `preconditioner` for one of our contenders, by the first word of its name; "-float" at its end, as
/// "-mixed", is for levels in float. Throws InputError where there is no such contender.
std::string preconditioner_of(const std::string& name, const ContestOptions& options);
bool is_mixed(const std::string& name);

/// PETSc's options for hypre's BoomerAMG as it is set up for Laplacians in three dimensions; `prefix` is that of
/// the solver it is in ("st_").
std::string boomeramg_options(const std::string& prefix);

/// What our solvers work with, and the clock.
struct Prepared {
  Stopwatch clock;  ///< since rows were there to be consumed
  Problem<double> problem;
  BlockSpace<double> space;
  Operators<double> operators;
};

/// Builds everything from the rows in host memory, as the peers do, by the code that the programs use. Collective.
Prepared prepare(const Question& question, const RunConfig& config, const PreconditionerConfig& preconditioner,
                 bool in_float);

}  // namespace block_eigs::bench
