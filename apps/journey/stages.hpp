#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/config/config.hpp"
#include "apps/input/operators.hpp"
#include "apps/input/problem.hpp"
#include "apps/input/stopwatch.hpp"
#include "apps/report/memory.hpp"
#include "apps/report/progress.hpp"
#include "io/result/result_file.hpp"
#include "solver/report.hpp"
#include "spmm/error.hpp"

// What run.cpp and solve.cpp have in common, in the order of the journey.
namespace block_eigs {

/// What there is to read before the device is needed: the order by the graph, and, while a GPU is on its way, A
/// unless that is very large. Returns what order_by_graph returns. Collective; throws InputError.
RunConfig read_early(const Communicator& comm, const RunConfig& config, const PreconditionerConfig& preconditioner,
                     const DeviceStart& device, Sources& sources);

/// On the device that was begun. Where phases are to be `profiled` all of the run so far counts as reading.
/// Collective; throws Error.
template <class T>
Context<T> make_context(const Communicator& comm, DeviceStart& device, const RunConfig& config, bool profiled,
                        const Stopwatch& all);

/// Reads the matrices for `preconditioner`, and for iterations in float where `in_float` says that there will be
/// some. `hold` as in ReadOptions. Collective; throws InputError.
template <class T>
Problem<T> read_problem(const Context<T>& context, const Sources& sources, const RunConfig& config,
                        const PreconditionerConfig& preconditioner, bool in_float, int hold = 0);

/// Calls solve(observer) with a line of progress on `what` ("pairs"), unless `silent`, and an eye on the memory.
/// Collective.
template <class Solve>
auto observed(const Communicator& comm, const std::string& what, double tolerance, bool silent, MemoryWatch& watch,
              const Solve& solve) {
  ProgressLine progress(comm, what, tolerance);
  const Observer observer = [&](const IterationReport& report) {
    watch.sample();
    if (!silent) progress.update(report);
  };
  return solve(observer);
}

/// The matrices in double and as they are for those who verify a result of another precision, or of rows that were
/// made to stand alone: read again, in place of the ones that are there. Collective.
template <class T>
Problem<double> read_exactly(Problem<T>& problem, const Sources& sources, const RunConfig& config);

/// Adds where the time and the memory went so far to what a result file says of the run. Collective.
void describe_usage(const Communicator& comm, Profile& profile, const Stopwatch& all, const MemoryWatch& watch,
                    RunRecord& run);

/// Writes the result file that the config asks for, if it does, with `vectors` under `name` unless they are null.
/// `Findings` is PairsRecord or SolutionsRecord. Collective; throws RunError.
template <class T, class Findings>
void write_result(const Problem<T>& problem, const RunConfig& config, const RunRecord& run,
                  const Findings& findings, const HistoryRecord& history, const std::string& name,
                  const DenseBlock<T>* vectors);

/// Where the time and the memory went, and the last words on `what` with `outcomes`. Returns the exit code.
/// Collective.
ExitCode end_run(const Communicator& comm, const RunConfig& config, Profile& profile, const Stopwatch& all,
                 const MemoryWatch& watch, const RunRecord& run, const std::string& what,
                 const std::vector<Outcome>& outcomes);

}  // namespace block_eigs
