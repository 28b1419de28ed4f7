// The journey of block-solve.
#include <algorithm>
#include <limits>
#include <utility>

#include "apps/input/block_input.hpp"
#include "apps/input/preconditioner.hpp"
#include "apps/input/right_hand_sides.hpp"
#include "apps/journey/cores.hpp"
#include "apps/journey/linear_solve.hpp"
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
                      DiagonalSigns signs, const LinearSolver<T>& solver, const Arguments& arguments) {
  const auto open = std::count(checked.outcomes.begin(), checked.outcomes.end(), Outcome::not_converged);
  if (open == 0) return {};
  UnfinishedSolve unfinished = unfinished_solve(result, checked);
  unfinished.signs = signs;
  unfinished.rows = rows;
  if (solver.choice) unfinished.tried = solver.choice->taken();
  const std::string remark = result.remark.empty() ? "true residuals are above the tolerance" : result.remark;
  const std::string advice =
      advice_text(advise(unfinished, solver.config), arguments.program, arguments.config, arguments.overrides);
  return advice.empty() ? remark : remark + "; " + advice;
}

template <class T>
ExitCode run(const Communicator& comm, const Arguments& arguments, const RunConfig& asked) {
  const Stopwatch all;
  const Context<T> context = make_context<T>(comm, asked.device, asked.halo);
  context.profile->start();
  Sources sources = open_sources(comm, asked);
  const RunConfig config = ordered(context, asked, asked.linear_solver.preconditioner, sources);
  const LinearSolverConfig& solver = config.linear_solver;
  const bool in_float = iterates_in_float<T>(solver);
  RightHandSides sides(comm, config, sources.a->rows(), sources.order);
  Problem<T> problem = read_problem(context, sources, config, solver.preconditioner, in_float);
  BlockSpace<T> space(context, problem.partition);
  const DenseBlock<T> f = sides.read(space);
  DenseBlock<T> initial = read_initial(space, solver, sides.count());
  scale_initial(problem.scaling, space, initial);
  announce(problem, sources, config, arguments.program, task(solver, sides));
  announce(comm, context.device->host_addressable() ? idle_cores(comm) : "");
  announce(comm, halo_remark(*context.transport));
  announce(comm, partition_remark(problem));

  const Announce tell = [&](const std::string& text) { announce(comm, text); };
  const Stopwatch setup;
  LinearSolver<T> chosen = make_linear_solver(problem, config, sides.count(), tell);
  announce(comm, chosen.operators->preconditioner.made);
  const MemoryEstimate memory = estimate_memory(
      memory_needs(problem, *chosen.operators, chosen.config.linear_solver, f.cols()), *context.device);
  if (arguments.check) return print_check(comm, config, memory, *context.profile, all.seconds());

  MemoryWatch watch(context.device, memory);
  const double setup_seconds = setup.seconds();
  const std::string made = chosen.operators->preconditioner.made;
  ChoiceLog choices(chosen.choice ? chosen.choice->description() : description(solver.preconditioner));
  const Announce note = [&](const std::string& text) {
    tell(text);
    choices.take(text);
  };
  BlockCgResult<T> result =
      observed(comm, "right-hand sides", solver.tolerance, arguments.silent(), watch, [&](const Observer& line) {
        return solve_linear(space, problem, chosen, f, std::move(initial), choices.counting(line), note);
      });
  chosen.operators.reset();
  const Spent spent{setup_seconds + result.setup_seconds, result.solve_seconds, result.total_iterations,
                    result.remark};
  RunRecord record = run_record(problem, sources, config, arguments.program, spent);

  const DiagonalSigns signs = diagonal_signs(problem);
  const SolutionCheck checked = verify_solutions(problem, sources, config, sides, f, result);
  undo_scaling(problem.scaling, space, result);
  record.remark =
      remark_on(result, checked, static_cast<double>(problem.partition.rows()), signs, chosen, arguments);
  const SolutionsRecord solutions = solutions_record(checked, result.recursive_residual_norms, result.iterations);
  print_solutions(comm, solutions);
  describe_course(record, chosen.choice.has_value(), made, choices.records());
  describe_usage(comm, *context.profile, all, watch, record);
  write_result(problem, config, record, solutions, history_record(result.history, result.solution.cols()),
               "/solution", &result.solution);
  const ExitCode code =
      end_run(comm, config, *context.profile, all, watch, record, "right-hand sides", checked.outcomes);
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
