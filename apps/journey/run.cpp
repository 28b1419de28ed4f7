#include "apps/journey/run.hpp"

#include <chrono>
#include <cstdio>
#include <memory>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "apps/config/config.hpp"
#include "apps/input/float_twin.hpp"
#include "apps/input/near_null_space.hpp"
#include "apps/input/preconditioner.hpp"
#include "apps/input/problem.hpp"
#include "apps/input/start_vectors.hpp"
#include "apps/journey/verify.hpp"
#include "apps/report/console.hpp"
#include "apps/report/memory.hpp"
#include "apps/report/progress.hpp"
#include "apps/report/record.hpp"
#include "apps/report/table.hpp"
#include "apps/report/text.hpp"
#include "io/files/output_path.hpp"
#include "io/result/result_file.hpp"
#include "solver/lobpcg/lobpcg_mixed.hpp"
#include "solver/space/block_space.hpp"

namespace block_eigs {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void check_sizes(const RunConfig& config, const Sources& sources) {
  const int pairs = config.eigensolver.options.pairs;
  require(pairs <= sources.a->rows(),
          fmt::format("eigensolver.pairs: {} are asked for, but the matrix ({}) has {} rows", pairs,
                      sources.a->description(), sources.a->rows()));
}

/// Residuals and bounds of what will be saved, from A and B in double. Where the run was in double the matrices at
/// hand serve; else they are read again, in place of the ones that are there.
template <class T>
Verification verify_result(Problem<T>& problem, const Sources& sources, const RunConfig& config,
                           const EigenResult<T>& result) {
  const LobpcgOptions& options = config.eigensolver.options;
  if constexpr (std::is_same_v<T, double>) {
    return verify(problem, result.eigenvectors, result.eigenvalues, false, options);
  } else {
    problem.a.reset();
    problem.b.reset();
    Problem<double> exact =
        read_problem(with_precision<double>(problem.context), sources, config.spmm, problem.partition);
    return verify(exact, result.eigenvectors, result.eigenvalues, true, options);
  }
}

template <class T>
void write_result(const Problem<T>& problem, const RunConfig& config, const RunRecord& run,
                  const Verification& verified, const EigenResult<T>& result) {
  const Profile::Scope scope(*problem.context.profile, Phase::io);
  ResultFile file(problem.context.comm, config.output->file);
  file.describe(run);
  file.write(pairs_record(verified));
  file.write(history_record(result.history, config.eigensolver.options.pairs));
  if (config.output->eigenvectors) file.write("/eigenvectors", problem.partition, result.eigenvectors);
  file.commit();
}

/// Pairs that a window of columns did not get to are not even there.
std::vector<Outcome> outcomes_of_all(const Verification& verified, int pairs) {
  std::vector<Outcome> outcomes = verified.outcomes;
  outcomes.resize(static_cast<std::size_t>(pairs), Outcome::not_converged);
  return outcomes;
}

/// Whether the solver starts from vectors of the preconditioner's: of no use at the upper end, or where the config
/// has vectors of its own.
template <class T>
bool wants_start_vectors(const Preconditioner<T>& preconditioner, const EigensolverConfig& config) {
  return preconditioner.start_vectors && !config.initial && config.options.which == Which::smallest;
}

/// Whether the run begins in another precision than it ends in.
template <class T>
bool is_mixed(const RunConfig& config) {
  return std::is_same_v<T, double> && config.eigensolver.inner_precision == Precision::float32 && !config.mass;
}

/// What the iterations need: the preconditioner, and A and it in float where they begin there.
template <class T>
struct Operators {
  Preconditioner<T> preconditioner{};
  std::unique_ptr<FloatTwin> twin{};
  FloatOperators in_float{};

  Operators(Problem<T>& problem, const RunConfig& config) {
    const PreconditionerConfig& wanted = config.eigensolver.preconditioner;
    preconditioner = make_preconditioner(problem, config.matrix, wanted);
    if constexpr (std::is_same_v<T, double>) {
      if (!is_mixed<T>(config)) return;
      in_float = preconditioner.in_float;
      if (wanted.type == PreconditionerType::amg) return;
      twin = std::make_unique<FloatTwin>(make_float_twin(problem, config, wanted));
      in_float = {twin->problem.a.get(), twin->preconditioner.operation.get()};
    }
  }

  EigenResult<T> solve(BlockSpace<T>& space, const Problem<T>& problem, StartVectors<T>& start,
                       const LobpcgOptions& options, const Observer& observer) {
    const DenseBlock<T>* constraints = start.constraints.cols() > 0 ? &start.constraints : nullptr;
    if constexpr (std::is_same_v<T, double>) {
      if (in_float.a != nullptr) {
        return lobpcg_mixed(space, *problem.a, preconditioner.operation.get(), in_float, constraints,
                            std::move(start.initial), options, observer);
      }
    }
    return lobpcg<T>(space, *problem.a, problem.b.get(), preconditioner.operation.get(), constraints,
                     std::move(start.initial), options, observer);
  }
};

template <class T>
ExitCode solve(const Communicator& comm, const Arguments& arguments, const RunConfig& config) {
  const auto began = Clock::now();
  const EigensolverConfig& eigensolver = config.eigensolver;
  const Context<T> context = make_context<T>(comm, config.device);
  context.profile->start();
  const Sources sources = open_sources(comm, config);
  check_sizes(config, sources);
  const int nodes = unknowns_per_node(comm, eigensolver.preconditioner, config.matrix, sources.a->rows());
  const bool keep_rows = needs_rows(eigensolver.preconditioner) || is_mixed<T>(config);
  Problem<T> problem = read_problem(context, sources, {config.spmm, keep_rows, nodes});
  BlockSpace<T> space(context, problem.partition);
  StartVectors<T> start = read_start_vectors(space, eigensolver);
  announce(problem, sources, config, arguments,
           task(eigensolver) + (is_mixed<T>(config) ? ", begun in float" : ""));

  const auto setup = Clock::now();
  auto operators = std::make_unique<Operators<T>>(problem, config);
  if (wants_start_vectors(operators->preconditioner, eigensolver))
    start.initial = operators->preconditioner.start_vectors(
        start_columns(eigensolver.options.pairs, eigensolver.options.block_size), eigensolver.options.seed);
  const double setup_seconds = problem.build_seconds + seconds_since(setup);
  const MemoryEstimate memory = estimate_memory(problem, eigensolver, start.constraints.cols());
  if (arguments.check) {
    print_check(comm, config, memory);
    return ExitCode::success;
  }

  MemoryWatch watch(context.device, memory);
  EigenResult<T> result;
  {
    ProgressLine progress(comm, "pairs", eigensolver.options.tolerance);
    result = operators->solve(space, problem, start, eigensolver.options, [&](const IterationReport& report) {
      watch.sample();
      progress.update(report);
    });
  }
  operators.reset();
  RunRecord run = run_record(problem, sources, config, arguments);
  run.setup_seconds = setup_seconds + result.setup_seconds;
  run.solve_seconds = result.solve_seconds;
  run.iterations = result.iterations;
  run.remark = result.remark;
  Verification verified = verify_result(problem, sources, config, result);
  sort_pairs(space, verified, result.eigenvectors, eigensolver.options.which);
  print_pairs(comm, verified, known_eigenvalues(config));
  if (config.output) write_result(problem, config, run, verified, result);
  print_times(comm, *context.profile, seconds_since(began));
  watch.print(comm);
  return conclude(comm, config, arguments, run, "pairs", outcomes_of_all(verified, eigensolver.options.pairs));
}

}  // namespace

ExitCode run_eigensolver(const Communicator& comm, const Arguments& arguments) {
  const RunConfig config = read_config(comm, arguments.config, arguments.overrides);
  if (config.output) require_writable(comm, config.output->file);
  return config.precision == Precision::float32 ? solve<float>(comm, arguments, config)
                                                : solve<double>(comm, arguments, config);
}

}  // namespace block_eigs
