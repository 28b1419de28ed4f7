#include "apps/in_memory/linear_run.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "apps/in_memory/notes.hpp"
#include "apps/in_memory/operator_limits.hpp"
#include "apps/input/block_input.hpp"
#include "apps/input/right_hand_sides.hpp"
#include "apps/journey/linear_solve.hpp"
#include "apps/journey/scaled_units.hpp"
#include "apps/journey/stages.hpp"
#include "apps/report/advice_solve.hpp"
#include "apps/report/record.hpp"
#include "apps/report/text.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

constexpr const char* program = "solve";

template <class T>
void conclude(const BlockCgResult<T>& result, const SolutionCheck& checked, const RunConfig& config,
              const std::vector<PreconditionerType>& tried, LinearAnswer<T>& answer) {
  answer.solutions = solutions_record(checked, result.recursive_residual_norms, result.iterations);
  answer.history = history_record(result.history, result.solution.cols());
  const auto open = std::count(checked.outcomes.begin(), checked.outcomes.end(), Outcome::not_converged);
  if (open == 0) return;
  UnfinishedSolve unfinished = unfinished_solve(result, checked);
  unfinished.tried = tried;
  note_advice(advise(unfinished, config), answer.notes);
  if (answer.run.remark.empty()) answer.run.remark = "true residuals are above the tolerance";
}

/// The way of apps/journey/solve.cpp.
template <class T>
LinearAnswer<T> solve_matrix(const Context<T>& context, LinearInput<T>& input, const Proceed& wanted) {
  const RunConfig& config = input.config;
  const LinearSolverConfig& solver = config.linear_solver;
  const bool in_float = iterates_in_float<T>(solver);
  LinearAnswer<T> answer;
  const Announce note = [&](const std::string& text) {
    constexpr std::string_view subject = "preconditioner: ";
    answer.notes.preconditioner.push_back(text.starts_with(subject) ? text.substr(subject.size()) : text);
  };
  Sources sources;
  sources.a = std::move(input.a.matrix);
  RightHandSides sides(context.comm, config, sources.a->rows());
  ReadOptions options = read_options(context, config, solver.preconditioner, in_float, sources.a->rows());
  options.partition = input.partition;
  Problem<T> problem = read_problem(context, sources, options);
  BlockSpace<T> space(context, problem.partition);
  const DenseBlock<T> f = sides.read(space);
  DenseBlock<T> initial = read_initial(space, solver, sides.count());
  scale_initial(problem.scaling, space, initial);
  const Stopwatch setup;
  LinearSolver<T> chosen = make_linear_solver(problem, config, sides.count(), note);
  if (input.preconditioner) chosen.operators->preconditioner.operation = std::move(input.preconditioner);
  if (!chosen.operators->preconditioner.made.empty()) note(chosen.operators->preconditioner.made);
  const double setup_seconds = setup.seconds();
  BlockCgResult<T> result = solve_linear(space, problem, chosen, f, std::move(initial), Observer{}, note, wanted);
  if (config.max_seconds && result.findings.end == BlockCgEnd::stopped)
    result.remark = fmt::format("max_seconds = {:g} reached", *config.max_seconds);
  chosen.operators.reset();
  answer.run = run_record(
      problem, sources, config, program,
      {setup_seconds + result.setup_seconds, result.solve_seconds, result.total_iterations, result.remark});
  const SolutionCheck checked = verify_solutions(problem, sources, config, sides, f, result);
  undo_scaling(problem.scaling, space, result);
  conclude(result, checked, chosen.config,
           chosen.choice ? chosen.choice->taken() : std::vector<PreconditionerType>{}, answer);
  hand_over(context, result.solution, input.place, answer);
  return answer;
}

template <class T>
LinearAnswer<T> solve_operator(const Context<T>& context, LinearInput<T>& input, const Proceed& wanted) {
  const RunConfig& config = input.config;
  const LinearSolverConfig& solver = config.linear_solver;
  require_no_entries(solver.preconditioner);
  LinearAnswer<T> answer;
  RightHandSides sides(context.comm, config, input.partition.rows());
  BlockSpace<T> space(context, input.partition);
  const DenseBlock<T> f = sides.read(space);
  DenseBlock<T> initial = read_initial(space, solver, sides.count());
  const BlockCgOptions options{solver.tolerance, solver.max_iterations, solver.block_size};
  const BlockCgResult<T> result = block_cg<T>(space, *input.a.operation, input.preconditioner.get(), f,
                                              std::move(initial), options, Observer{}, wanted);
  answer.run =
      operator_record(context, input, program,
                      {result.setup_seconds, result.solve_seconds, result.total_iterations, result.remark});
  // Of an operator nothing else can be made.
  conclude(result, {result.rhs_norms, result.residual_norms, result.outcomes}, config, {PreconditionerType::none},
           answer);
  hand_over(context, result.solution, input.place, answer);
  return answer;
}

}  // namespace

template <class T>
LinearAnswer<T> run_linear_solver(const Context<T>& context, LinearInput<T> input, const Proceed& wanted) {
  context.profile->start();
  if (input.config.max_seconds && context.comm.is_root()) context.stop->end_after(*input.config.max_seconds);
  LinearAnswer<T> answer =
      input.a.matrix ? solve_matrix(context, input, wanted) : solve_operator(context, input, wanted);
  note_phases(*context.profile, answer.notes);
  return answer;
}

template LinearAnswer<float> run_linear_solver(const Context<float>&, LinearInput<float>, const Proceed&);
template LinearAnswer<double> run_linear_solver(const Context<double>&, LinearInput<double>, const Proceed&);

}  // namespace block_eigs
