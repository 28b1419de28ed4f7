// The journey of block-eigs.
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "apps/input/block_input.hpp"
#include "apps/journey/programs.hpp"
#include "apps/journey/stages.hpp"
#include "apps/journey/verify.hpp"
#include "apps/report/console.hpp"
#include "apps/report/record.hpp"
#include "apps/report/table.hpp"
#include "io/files/output_path.hpp"
#include "solver/lobpcg/lobpcg_mixed.hpp"
#include "solver/space/block_space.hpp"

namespace block_eigs {

namespace {

void check_sizes(const RunConfig& config, const Sources& sources) {
  const int pairs = config.eigensolver.options.pairs;
  require(pairs <= sources.a->rows(),
          fmt::format("eigensolver.pairs: {} are asked for, but the matrix ({}) has {} rows", pairs,
                      sources.a->description(), sources.a->rows()));
}

/// Whether iterations begin in float under a result in double.
template <class T>
bool begins_in_float(const RunConfig& config) {
  return std::is_same_v<T, double> && config.eigensolver.inner_precision == Precision::float32 && !config.mass;
}

/// What iterations begin with: vectors of a file, or of coarse levels where the preconditioner has some.
template <class T>
DenseBlock<T> start_block(const Preconditioner<T>& preconditioner, const EigensolverConfig& config,
                          DenseBlock<T> initial) {
  if (!starts_from_coarse_levels(preconditioner, config)) return initial;
  const LobpcgOptions& options = config.options;
  return preconditioner.start_vectors(start_columns(options.pairs, options.block_size), options.seed);
}

template <class T>
EigenResult<T> solve(BlockSpace<T>& space, const Problem<T>& problem, const Operators<T>& operators,
                     const DenseBlock<T>& constraints, DenseBlock<T> initial, const LobpcgOptions& options,
                     const Observer& observer) {
  const DenseBlock<T>* orthogonal_to = constraints.cols() > 0 ? &constraints : nullptr;
  LinearOperator<T>* preconditioner = operators.preconditioner.operation.get();
  if constexpr (std::is_same_v<T, double>) {
    if (operators.in_float.a != nullptr) {
      return lobpcg_mixed(space, *problem.a, preconditioner, operators.in_float, orthogonal_to, std::move(initial),
                          options, observer);
    }
  }
  return lobpcg<T>(space, *problem.a, problem.b.get(), preconditioner, orthogonal_to, std::move(initial), options,
                   observer);
}

/// Residuals and bounds of what will be saved, from A and B in double.
template <class T>
Verification verify_result(Problem<T>& problem, const Sources& sources, const RunConfig& config,
                           const EigenResult<T>& result) {
  const LobpcgOptions& options = config.eigensolver.options;
  if constexpr (std::is_same_v<T, double>) {
    return verify(problem, result.eigenvectors, result.eigenvalues, false, options);
  } else {
    Problem<double> exact = read_exactly(problem, sources, config);
    return verify(exact, result.eigenvectors, result.eigenvalues, true, options);
  }
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
  const EigensolverConfig& eigensolver = config.eigensolver;
  const LobpcgOptions& options = eigensolver.options;
  const bool in_float = begins_in_float<T>(config);
  const Context<T> context = make_context<T>(comm, config.device);
  context.profile->start();
  const Sources sources = open_sources(comm, config);
  check_sizes(config, sources);
  Problem<T> problem = read_problem(context, sources, config, eigensolver.preconditioner, in_float);
  BlockSpace<T> space(context, problem.partition);
  StartVectors<T> start = read_start_vectors(space, eigensolver);
  announce(problem, sources, config, arguments.program, task(eigensolver) + (in_float ? ", begun in float" : ""));

  const Stopwatch setup;
  auto operators =
      std::make_unique<Operators<T>>(make_operators(problem, config, eigensolver.preconditioner, in_float));
  announce(comm, operators->preconditioner.made);
  const MemoryEstimate memory =
      estimate_memory(memory_needs(problem, *operators, eigensolver, start), *context.device);
  if (arguments.check) return print_check(comm, config, memory, *context.profile, all.seconds());

  MemoryWatch watch(context.device, memory);
  start.initial = start_block(operators->preconditioner, eigensolver, std::move(start.initial));
  const double setup_seconds = setup.seconds();
  EigenResult<T> result = observed(comm, "pairs", options.tolerance, watch, [&](const Observer& observer) {
    return solve(space, problem, *operators, start.constraints, std::move(start.initial), options, observer);
  });
  operators.reset();
  const Spent spent{setup_seconds + result.setup_seconds, result.solve_seconds, result.iterations, result.remark};
  const RunRecord record = run_record(problem, sources, config, arguments.program, spent);

  Verification verified = verify_result(problem, sources, config, result);
  sort_pairs(space, verified, result.eigenvectors, options.which);
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
