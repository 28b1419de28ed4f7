// The journey of block-eigs.
#include <utility>

#include <fmt/format.h>

#include "apps/input/block_input.hpp"
#include "apps/journey/eigensolve.hpp"
#include "apps/journey/programs.hpp"
#include "apps/journey/scaled_units.hpp"
#include "apps/journey/stages.hpp"
#include "apps/report/console.hpp"
#include "apps/report/record.hpp"
#include "apps/report/table.hpp"
#include "io/files/output_path.hpp"
#include "solver/space/block_space.hpp"

namespace block_eigs {

namespace {

void check_sizes(const RunConfig& config, const Sources& sources) {
  const int pairs = config.eigensolver.options.pairs;
  require(pairs <= sources.a->rows(),
          fmt::format("eigensolver.pairs: {} are asked for, but the matrix ({}) has {} rows", pairs,
                      sources.a->description(), sources.a->rows()));
}

/// Pairs that a window of columns did not get to are not even there.
std::vector<Outcome> outcomes_of_all(const Verification& verified, int pairs) {
  std::vector<Outcome> outcomes = verified.outcomes;
  outcomes.resize(static_cast<std::size_t>(pairs), Outcome::not_converged);
  return outcomes;
}

template <class T>
ExitCode run(const Communicator& comm, const Arguments& arguments, const RunConfig& config) {
  const Stopwatch all;
  const LobpcgOptions& options = config.eigensolver.options;
  const Context<T> context = make_context<T>(comm, config.device);
  context.profile->start();
  const Sources sources = open_sources(comm, config);
  check_sizes(config, sources);
  Problem<T> problem = read_problem(context, sources, config, config.eigensolver.preconditioner,
                                    begins_in_float<T>(config.eigensolver, config.mass.has_value()));
  BlockSpace<T> space(context, problem.partition);
  StartVectors<T> start = read_start_vectors(space, config.eigensolver);
  announce(problem, sources, config, arguments.program, task(config.eigensolver));

  const Stopwatch setup;
  EigenSolver<T> solver = make_solver(problem, config);
  if (solver.choice) announce(comm, "preconditioner: " + solver.choice->description());
  announce(comm, solver.operators->preconditioner.made);
  const MemoryEstimate memory =
      estimate_memory(memory_needs(problem, *solver.operators, solver.config.eigensolver, start), *context.device);
  if (arguments.check) return print_check(comm, config, memory, *context.profile, all.seconds());

  MemoryWatch watch(context.device, memory);
  const double setup_seconds = setup.seconds();
  EigenResult<T> result = observed(comm, "pairs", options.tolerance, watch, [&](const Observer& observer) {
    return eigensolve(space, problem, solver, std::move(start), observer,
                      [&](const std::string& text) { announce(comm, text); });
  });
  solver.operators.reset();
  const Spent spent{setup_seconds + result.setup_seconds, result.solve_seconds, result.iterations, result.remark};
  const RunRecord record = run_record(problem, sources, config, arguments.program, spent);

  Verification verified = verify_result(space, problem, sources, config, result);
  undo_scaling(problem.scaling, space, verified, result);
  print_pairs(comm, verified, known_eigenvalues(config));
  const bool with_vectors = config.output && config.output->eigenvectors;
  write_result(problem, config, record, pairs_record(verified), history_record(result.history, options.pairs),
               "/eigenvectors", with_vectors ? &result.eigenvectors : nullptr);
  return end_run(comm, config, *context.profile, all, watch, record, "pairs",
                 outcomes_of_all(verified, options.pairs));
}

}  // namespace

ExitCode run_eigensolver(const Communicator& comm, const Arguments& arguments) {
  const RunConfig config = read_config(comm, arguments.config, arguments.overrides);
  if (config.output) require_writable(comm, config.output->file);
  return config.precision == Precision::float32 ? run<float>(comm, arguments, config)
                                                : run<double>(comm, arguments, config);
}

}  // namespace block_eigs
