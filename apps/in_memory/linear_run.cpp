#include "apps/in_memory/linear_run.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "apps/in_memory/notes.hpp"
#include "apps/in_memory/operator_limits.hpp"
#include "apps/input/block_input.hpp"
#include "apps/input/preconditioner.hpp"
#include "apps/input/right_hand_sides.hpp"
#include "apps/journey/inner_precision.hpp"
#include "apps/journey/linear_solve.hpp"
#include "apps/journey/scaled_units.hpp"
#include "apps/journey/stages.hpp"
#include "apps/report/advice_solve.hpp"
#include "apps/report/record.hpp"
#include "apps/report/text.hpp"
#include "io/source/stored_zeros.hpp"
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

template <class T>
void begin(const Context<T>& context, const RunConfig& config) {
  if (config.profile) context.profile->start();
  if (config.max_seconds && context.comm.is_root()) context.stop->end_after(*config.max_seconds);
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

/// What there is of A. The problem and the operators come with the first solve.
template <class T>
struct LinearSystem<T>::Made {
  Sources sources;
  std::optional<Problem<T>> problem{};
  std::optional<LinearSolver<T>> solver{};
  std::unique_ptr<LinearSystem> before{};        ///< holds the matrix that the preconditioner was made of
  std::unique_ptr<LinearOperator<T>> carried{};  ///< that preconditioner, until there is a solver
  std::string carried_description{};

  /// Of `older` the preconditioner, and of what it came with the matrix that it was made of.
  void carry(std::unique_ptr<LinearSystem> older) {
    Made& from = *older->made_;
    carried = std::move(from.solver->operators->preconditioner.operation);
    carried_description = from.before ? from.carried_description
                                      : description(from.solver->config.linear_solver.preconditioner) +
                                            ", as it was made of the matrix of before";
    before = from.before ? std::move(from.before) : std::move(older);
  }

  /// The solver for `config`: the one that there is, under its limits. `given`: with a preconditioner of the
  /// caller's.
  LinearSolver<T>& solver_for(const RunConfig& config, GlobalIndex right_hand_sides, bool given,
                              const Announce& note) {
    if (!solver) {
      solver.emplace(make_linear_solver(*problem, config, right_hand_sides, note));
      if (before) solver->operators->take(std::move(carried));
      if (before) note(carried_description);
      if (!solver->operators->preconditioner.made.empty()) note(solver->operators->preconditioner.made);
      return *solver;
    }
    const PreconditionerConfig preconditioner = solver->config.linear_solver.preconditioner;
    solver->config = config;
    solver->config.linear_solver.preconditioner = preconditioner;
    if (solver->choice) solver->choice->ask(config.linear_solver);
    if (!given) note(before ? carried_description : description(preconditioner) + ", as it was made before");
    return *solver;
  }
};

template <class T>
LinearSystem<T>::LinearSystem(Context<T> context, std::unique_ptr<MatrixSource> a, Partition partition,
                              std::unique_ptr<LinearSystem> before)
    : context_(std::move(context)), partition_(std::move(partition)), made_(std::make_unique<Made>()) {
  made_->sources.a = std::make_unique<WithoutStoredZeros>(context_.comm, std::move(a));
  if (before) made_->carry(std::move(before));
}

template <class T>
bool LinearSystem<T>::keeps_preconditioner(const Partition& partition) const {
  return made_->solver && made_->solver->operators->in_float.a == nullptr && partition == partition_;
}

template <class T>
bool LinearSystem<T>::has_older_preconditioner() const {
  return made_->before != nullptr;
}

template <class T>
LinearSystem<T>::~LinearSystem() = default;

template <class T>
LinearAnswer<T> LinearSystem<T>::solve(LinearRequest<T> request, const Proceed& wanted) {
  return solve(std::move(request), wanted, false);
}

template <class T>
LinearAnswer<T> LinearSystem<T>::solve_last(LinearRequest<T> request, const Proceed& wanted) {
  return solve(std::move(request), wanted, true);
}

/// The way of apps/journey/solve.cpp.
template <class T>
LinearAnswer<T> LinearSystem<T>::solve(LinearRequest<T> request, const Proceed& wanted, bool last) {
  RunConfig& config = request.config;
  const LinearSolverConfig& wishes = config.linear_solver;
  if (made_->before) config.linear_solver.preconditioner = {.type = PreconditionerType::none};
  if (made_->before || request.preconditioner) begin_in_double(config.linear_solver);
  begin(context_, config);
  LinearAnswer<T> answer;
  const Announce note = [&](const std::string& text) {
    constexpr std::string_view subject = "preconditioner: ";
    answer.notes.preconditioner.push_back(text.starts_with(subject) ? text.substr(subject.size()) : text);
  };
  Sources& sources = made_->sources;
  RightHandSides sides(context_.comm, config, sources.a->rows());
  if (!made_->problem) {
    ReadOptions options =
        read_options(context_, config, wishes.preconditioner, iterates_in_float<T>(wishes), sources.a->rows());
    options.partition = partition_;
    made_->problem.emplace(read_problem(context_, sources, options));
  }
  Problem<T>& problem = *made_->problem;
  BlockSpace<T> space(context_, problem.partition);
  const DenseBlock<T> f = sides.read(space);
  DenseBlock<T> initial = read_initial(space, wishes, sides.count());
  scale_initial(problem.scaling, space, initial);
  const Stopwatch setup;
  LinearSolver<T>& solver = made_->solver_for(config, sides.count(), request.preconditioner != nullptr, note);
  if (request.preconditioner) solver.operators->take(std::move(request.preconditioner));
  const double setup_seconds = setup.seconds();
  BlockCgResult<T> result = solve_linear(space, problem, solver, f, std::move(initial), Observer{}, note, wanted);
  if (config.max_seconds && result.findings.end == BlockCgEnd::stopped)
    result.remark = fmt::format("max_seconds = {:g} reached", *config.max_seconds);
  // Residuals of what is in float take A in double, and its place: the record comes before them.
  const bool gives_back = last || std::is_same_v<T, float>;
  if (gives_back) solver.operators.reset();
  answer.run =
      run_record(problem, sources, config, program,
                 {setup_seconds + result.setup_seconds, result.solve_seconds, result.total_iterations, ""});
  SolutionCheck checked = verify_solutions(problem, sources, config, sides, f, result);
  undo_scaling(problem.scaling, space, result);
  answer.run.remark = result.remark;
  conclude(result, checked, solver.config,
           solver.choice ? solver.choice->taken() : std::vector<PreconditionerType>{}, answer);
  if (gives_back) {
    made_->solver.reset();
    made_->problem.reset();
  } else {
    solver.config.right_hand_sides.reset();  // with it what it may hold in memory
    solver.config.linear_solver.initial.reset();
  }
  hand_over(context_, result.solution, request.place, answer);
  note_phases(*context_.profile, answer.notes);
  return answer;
}

template <class T>
LinearAnswer<T> run_linear_solver(const Context<T>& context, LinearInput<T> input, const Proceed& wanted) {
  if (!input.a.matrix) {
    begin(context, input.config);
    LinearAnswer<T> answer = solve_operator(context, input, wanted);
    note_phases(*context.profile, answer.notes);
    return answer;
  }
  LinearSystem<T> system(context, std::move(input.a.matrix), input.partition);
  return system.solve_last({std::move(input.config), std::move(input.preconditioner), std::move(input.place)},
                           wanted);
}

template class LinearSystem<float>;
template class LinearSystem<double>;
template LinearAnswer<float> run_linear_solver(const Context<float>&, LinearInput<float>, const Proceed&);
template LinearAnswer<double> run_linear_solver(const Context<double>&, LinearInput<double>, const Proceed&);

}  // namespace block_eigs
