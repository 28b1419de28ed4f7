#pragma once

#include <string>
#include <vector>

#include "apps/config/config.hpp"
#include "apps/input/problem.hpp"
#include "apps/input/right_hand_sides.hpp"
#include "apps/report/memory.hpp"
#include "io/result/result_file.hpp"
#include "solver/report.hpp"
#include "spmm/device/profile.hpp"
#include "spmm/error.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs {

/// What `program` is about to do, in a few lines on stdout, the last one being `task`. Collective; rank 0 prints.
template <class T>
void announce(const Problem<T>& problem, const Sources& sources, const RunConfig& config,
              const std::string& program, const std::string& task);
/// What came of building the preconditioner, where that is not empty.
void announce(const Communicator& comm, const std::string& made);
/// How rows get from rank to rank and why, empty where there is nothing to say.
std::string halo_remark(const Transport& transport);
/// How much of A each rank has and receives, empty on one rank. Collective.
template <class T>
std::string partition_remark(const Problem<T>& problem);
std::string task(const EigensolverConfig& config);
std::string task(const LinearSolverConfig& config, const RightHandSides& sides);

/// The answer to --check: the resolved config, where the time of reading and setting up went, and the memory of
/// the rank that needs the most. Collective.
ExitCode print_check(const Communicator& comm, const RunConfig& config, const MemoryEstimate& memory,
                     Profile& profile, double wall_seconds);

/// The last words: where the result is, and on stderr which of `what` ("pairs"), with `outcomes`, have not
/// converged and why. Returns the exit code. Not collective; all ranks get the same code.
ExitCode conclude(const Communicator& comm, const RunConfig& config, const RunRecord& run, const std::string& what,
                  const std::vector<Outcome>& outcomes);

}  // namespace block_eigs
