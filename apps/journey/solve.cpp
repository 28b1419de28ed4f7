#include "apps/journey/solve.hpp"

#include <chrono>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "apps/config/config.hpp"
#include "apps/input/block_input.hpp"
#include "apps/input/float_twin.hpp"
#include "apps/input/near_null_space.hpp"
#include "apps/input/preconditioner.hpp"
#include "apps/input/problem.hpp"
#include "apps/input/right_hand_sides.hpp"
#include "apps/journey/verify_solution.hpp"
#include "apps/report/console.hpp"
#include "apps/report/memory.hpp"
#include "apps/report/progress.hpp"
#include "apps/report/record.hpp"
#include "apps/report/table.hpp"
#include "io/files/output_path.hpp"
#include "io/result/result_file.hpp"
#include "solver/block_cg/block_cg_mixed.hpp"
#include "solver/space/block_space.hpp"

namespace block_eigs {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// The first guess; without columns where the config names none.
template <class T>
DenseBlock<T> read_initial(BlockSpace<T>& space, const LinearSolverConfig& config, GlobalIndex sides) {
  if (!config.initial) return {};
  const Profile::Scope scope(space.profile(), Phase::io);
  const auto source = open_block(space.comm(), *config.initial, "linear_solver.initial", space.dimension());
  require(source->columns() == sides,
          fmt::format("linear_solver.initial: {} holds {} vectors, but there are {} right-hand sides",
                      source->description(), source->columns(), sides));
  return read_block(space, *source, sides);
}

/// Residuals of what will be saved. Where the run was in double they are known; else A is read again in double, in
/// place of the one that is there.
template <class T>
SolutionCheck verify_result(Problem<T>& problem, const Sources& sources, const RunConfig& config,
                            RightHandSides& sides, const DenseBlock<T>& f, const BlockCgResult<T>& result) {
  if constexpr (std::is_same_v<T, double>) {
    return {result.rhs_norms, result.residual_norms, result.outcomes};
  } else {
    problem.a.reset();
    Problem<double> exact =
        read_problem(with_precision<double>(problem.context), sources, config.spmm, problem.partition);
    return verify_solution(exact, sides, f, result, config.linear_solver.tolerance);
  }
}

template <class T>
void write_result(const Problem<T>& problem, const RunConfig& config, const RunRecord& run,
                  const SolutionsRecord& solutions, const BlockCgResult<T>& result) {
  const Profile::Scope scope(*problem.context.profile, Phase::io);
  ResultFile file(problem.context.comm, config.output->file);
  file.describe(run);
  file.write(solutions);
  file.write(history_record(result.history, result.solution.cols()));
  file.write("/solution", problem.partition, result.solution);
  file.commit();
}

/// Whether iterations run in another precision than the solution.
template <class T>
bool is_mixed(const LinearSolverConfig& config) {
  return std::is_same_v<T, double> && config.inner_precision == Precision::float32;
}

/// What the iterations need: the preconditioner, or A and it in float.
template <class T>
struct Operators {
  Preconditioner<T> preconditioner{};
  std::unique_ptr<FloatTwin> twin{};

  Operators(Problem<T>& problem, const RunConfig& config) {
    if constexpr (std::is_same_v<T, double>) {
      if (is_mixed<T>(config.linear_solver))
        twin = std::make_unique<FloatTwin>(make_float_twin(problem, config, config.linear_solver.preconditioner));
    }
    preconditioner = make_preconditioner(problem, config.matrix, config.linear_solver.preconditioner);
  }

  BlockCgResult<T> solve(BlockSpace<T>& space, LinearOperator<T>& a, const DenseBlock<T>& f, DenseBlock<T> initial,
                         const BlockCgOptions& options, const Observer& observer) {
    if constexpr (std::is_same_v<T, double>) {
      if (twin != nullptr) {
        return block_cg_mixed(space, a, preconditioner.operation.get(), *twin->problem.a,
                              twin->preconditioner.operation.get(), f, std::move(initial), options, observer);
      }
    }
    return block_cg<T>(space, a, preconditioner.operation.get(), f, std::move(initial), options, observer);
  }
};

template <class T>
ExitCode solve(const Communicator& comm, const Arguments& arguments, const RunConfig& config) {
  const auto began = Clock::now();
  const LinearSolverConfig& solver = config.linear_solver;
  const Context<T> context = make_context<T>(comm, config.device);
  context.profile->start();
  const Sources sources = open_sources(comm, config);
  RightHandSides sides(comm, config, sources.a->rows());
  const int nodes = unknowns_per_node(comm, solver.preconditioner, config.matrix, sources.a->rows());
  const bool keep_rows = needs_rows(solver.preconditioner) || is_mixed<T>(solver);
  Problem<T> problem = read_problem(context, sources, {config.spmm, keep_rows, nodes});
  BlockSpace<T> space(context, problem.partition);
  const DenseBlock<T> f = sides.read(space);
  DenseBlock<T> initial = read_initial(space, solver, sides.count());
  announce(problem, sources, config, arguments, task(solver, sides));

  const auto setup = Clock::now();
  auto operators = std::make_unique<Operators<T>>(problem, config);
  const double setup_seconds = problem.build_seconds + seconds_since(setup);
  const MemoryEstimate memory = estimate_memory(problem, solver, f.cols());
  if (arguments.check) {
    print_check(comm, config, memory);
    return ExitCode::success;
  }

  MemoryWatch watch(context.device, memory);
  BlockCgResult<T> result;
  {
    ProgressLine progress(comm, "right-hand sides", solver.tolerance);
    const BlockCgOptions options{solver.tolerance, solver.max_iterations, solver.block_size};
    result =
        operators->solve(space, *problem.a, f, std::move(initial), options, [&](const IterationReport& report) {
          watch.sample();
          progress.update(report);
        });
  }
  operators.reset();
  RunRecord run = run_record(problem, sources, config, arguments);
  run.setup_seconds = setup_seconds + result.setup_seconds;
  run.solve_seconds = result.solve_seconds;
  run.iterations = result.total_iterations;
  run.remark = result.remark;
  const SolutionCheck checked = verify_result(problem, sources, config, sides, f, result);
  const SolutionsRecord solutions = solutions_record(checked, result.recursive_residual_norms, result.iterations);
  print_solutions(comm, solutions);
  if (config.output) write_result(problem, config, run, solutions, result);
  print_times(comm, *context.profile, seconds_since(began));
  watch.print(comm);
  return conclude(comm, config, arguments, run, "right-hand sides", checked.outcomes);
}

}  // namespace

ExitCode run_linear_solver(const Communicator& comm, const Arguments& arguments) {
  RunConfig config = read_config(comm, arguments.config, arguments.overrides);
  config.mass.reset();  // of no concern here
  if (config.output) require_writable(comm, config.output->file);
  return config.precision == Precision::float32 ? solve<float>(comm, arguments, config)
                                                : solve<double>(comm, arguments, config);
}

}  // namespace block_eigs
