// The journey of block-solve.
#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "apps/checkpoint/run_checkpoint.hpp"
#include "apps/input/block_input.hpp"
#include "apps/input/preconditioner.hpp"
#include "apps/input/right_hand_sides.hpp"
#include "apps/journey/cores.hpp"
#include "apps/journey/early_end.hpp"
#include "apps/journey/inner_precision.hpp"
#include "apps/journey/linear_solve.hpp"
#include "apps/journey/memory_limits.hpp"
#include "apps/journey/programs.hpp"
#include "apps/journey/scaled_units.hpp"
#include "apps/journey/stages.hpp"
#include "apps/report/advice_solve.hpp"
#include "apps/report/choice_log.hpp"
#include "apps/report/console.hpp"
#include "apps/report/record.hpp"
#include "apps/report/summary.hpp"
#include "apps/report/table.hpp"
#include "io/files/output_path.hpp"
#include "solver/space/block_space.hpp"

namespace block_eigs {

namespace {

/// Collective.
template <class T>
DiagonalSigns diagonal_signs(const Problem<T>& problem) {
  double least = std::numeric_limits<double>::infinity();
  double largest = -least;
  for (const double d : problem.a->diagonal()) {
    least = std::min(least, d);
    largest = std::max(largest, d);
  }
  const Communicator& comm = problem.context.comm;
  return {-comm.max(-least) > 0.0, comm.max(largest) < 0.0};
}

/// Why some right-hand sides are not solved and what to try next; empty where all are.
template <class T>
std::string remark_on(const BlockCgResult<T>& result, const SolutionCheck& checked, double rows,
                      DiagonalSigns signs, const LinearSolver<T>& solver, const Arguments& arguments,
                      const RunCheckpoint* checkpoint) {
  const auto open = std::count(checked.outcomes.begin(), checked.outcomes.end(), Outcome::not_converged);
  if (open == 0) return {};
  UnfinishedSolve unfinished = unfinished_solve(result, checked);
  unfinished.signs = signs;
  unfinished.rows = rows;
  if (solver.choice) unfinished.tried = solver.choice->taken();
  std::string remark = result.remark.empty() ? "true residuals are above the tolerance" : result.remark;
  const bool ended = result.findings.end == BlockCgEnd::stopped;
  if (ended && checkpoint != nullptr && checkpoint->has_written()) return remark;
  const Advice next = ended ? go_on_from_result(solver.config.output ? solver.config.output->file : "",
                                                "linear_solver.initial", "/solution")
                            : advise(unfinished, solver.config);
  const std::string advice = advice_text(next, arguments.program, arguments.config, arguments.overrides);
  return advice.empty() ? remark : remark + "; " + advice;
}

template <class T>
ExitCode run(const Communicator& comm, const Arguments& arguments, const RunConfig& asked) {
  const Stopwatch all;
  EarlyEnd early(comm, asked.max_seconds);
  DeviceStart device(comm, asked.device);
  Sources sources = open_sources(comm, asked);
  const Announce tell = [&](const std::string& text) { announce(comm, text); };
  const std::unique_ptr<RunCheckpoint> checkpoint = open_checkpoint(comm, asked, arguments.program, tell, sources);
  const RunConfig config = read_early(comm, asked, asked.linear_solver.preconditioner, device, sources);
  const Context<T> context = make_context<T>(comm, device, asked, asked.profile || arguments.check, all);
  const LinearSolverConfig& solver = config.linear_solver;
  early.check();
  const bool in_float = iterates_in_float<T>(solver);
  RightHandSides sides(comm, config, sources.a->rows(), sources.order);
  require_memory(context, solver, sources.a->rows(), sides.count());
  Problem<T> problem = read_problem(context, sources, config, solver.preconditioner, in_float);
  early.check();
  BlockSpace<T> space(context, problem.partition);
  const DenseBlock<T> f = sides.read(space);
  DenseBlock<T> initial = read_initial(space, solver, sides.count());
  scale_initial(problem.scaling, space, initial);
  announce(problem, sources, config, arguments.program, task(solver, sides));
  announce(comm, context.device->host_addressable() ? idle_cores(comm) : "");
  announce(comm, halo_remark(*context.transport));
  announce(comm, partition_remark(problem));

  if (checkpoint) {
    checkpoint->bind(problem);
    checkpoint->identify("right-hand side", f);
  }

  const Stopwatch setup;
  LinearSolver<T> chosen = make_linear_solver(problem, config, sides.count(), tell, checkpoint.get());
  announce(comm, chosen.operators->preconditioner.made);
  announce(comm, float_remark(chosen.config.linear_solver));
  const bool resumes = checkpoint && checkpoint->saved() != nullptr;
  announce(comm, fit_work_space(problem, *chosen.operators, chosen.config.linear_solver, f.cols(), resumes));
  const MemoryEstimate memory = estimate_memory(
      memory_needs(problem, *chosen.operators, chosen.config.linear_solver, f.cols(), resumes), *context.device);
  require_memory(problem, *chosen.operators, chosen.config.linear_solver, f.cols(), resumes);
  if (arguments.check) return print_check(comm, config, memory, *context.profile, all.seconds());

  early.solving(context.stop);
  MemoryWatch watch(context.device, memory);
  chosen.changed = [&] {
    watch.foresee(estimate_memory(memory_needs(problem, *chosen.operators, chosen.config.linear_solver, f.cols()),
                                  *context.device));
  };
  const double setup_seconds = setup.seconds();
  const std::string made = chosen.operators->preconditioner.made;
  ChoiceLog choices(chosen.choice ? chosen.choice->description() : description(solver.preconditioner));
  const Announce note = choices.noting(tell);
  BlockCgResult<T> result =
      observed(comm, "right-hand sides", solver.tolerance, arguments.silent(), watch, [&](const Observer& line) {
        return solve_linear(space, problem, chosen, f, std::move(initial), choices.counting(line), note, {},
                            checkpoint.get());
      });
  chosen.operators.reset();
  result.remark = early.with_cause(result.remark);
  const Spent spent{setup_seconds + result.setup_seconds, result.solve_seconds, result.total_iterations,
                    result.remark};
  RunRecord record = run_record(problem, sources, config, arguments.program, spent);

  const DiagonalSigns signs = diagonal_signs(problem);
  SolutionCheck checked = verify_solutions(problem, sources, config, sides, f, result);
  undo_scaling(problem.scaling, space, result);
  record.remark = remark_on(result, checked, static_cast<double>(problem.partition.rows()), signs, chosen,
                            arguments, checkpoint.get());
  const SolutionsRecord solutions = solutions_record(checked, result.recursive_residual_norms, result.iterations);
  print_solutions(comm, solutions);
  describe_course(record, chosen.choice.has_value(), made, choices.records());
  describe_usage(comm, *context.profile, all, watch, record);
  write_result(problem, config, record, solutions, history_record(result.history, result.solution.cols()),
               "/solution", &result.solution);
  const ExitCode code =
      end_run(comm, config, *context.profile, all, watch, record, "right-hand sides", checked.outcomes);
  if (checkpoint && code == ExitCode::not_converged) tell(checkpoint->how_to_go_on());
  if (arguments.summarise)
    arguments.summarise(summary(record, solutions, config.output ? config.output->file : "", code));
  return code;
}

}  // namespace

ExitCode run_linear_solver(const Communicator& comm, const Arguments& arguments) {
  RunConfig config = read_config(comm, arguments.config, arguments.overrides);
  config.mass.reset();  // of no concern here
  if (config.output) {
    require_writable(comm, config.output->file);
    require_not_among(comm, config.output->file,
                      {config.matrix.file, config.right_hand_sides ? config.right_hand_sides->input.file : ""});
  }
  return config.precision == Precision::float32 ? run<float>(comm, arguments, config)
                                                : run<double>(comm, arguments, config);
}

}  // namespace block_eigs
