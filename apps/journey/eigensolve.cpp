#include "apps/journey/eigensolve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "apps/choice/shift_follower.hpp"
#include "apps/input/direct.hpp"
#include "apps/input/shift_search.hpp"
#include "apps/input/stopwatch.hpp"
#include "apps/journey/count_in.hpp"
#include "apps/journey/held_by_constraints.hpp"
#include "apps/journey/proof.hpp"
#include "apps/journey/scaled_units.hpp"
#include "apps/journey/stages.hpp"
#include "apps/journey/verify.hpp"
#include "solver/lobpcg/lobpcg_mixed.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// What iterations begin with: vectors of a file, or of coarse levels where the preconditioner has some.
template <class T>
DenseBlock<T> start_block(const Preconditioner<T>& preconditioner, const EigensolverConfig& config,
                          DenseBlock<T> initial) {
  if (!starts_from_coarse_levels(preconditioner, config)) return initial;
  const LobpcgOptions& options = config.options;
  return preconditioner.start_vectors(start_columns(options.pairs, options.block_size), options.seed);
}

template <class T>
EigenResult<T> iterate(BlockSpace<T>& space, Problem<T>& problem, const EigenSolver<T>& solver,
                       const DenseBlock<T>& constraints, DenseBlock<T> initial, const LobpcgOptions& options,
                       const Observer& observer, const Proceed& proceed) {
  const DenseBlock<T>* orthogonal_to = constraints.cols() > 0 ? &constraints : nullptr;
  LinearOperator<T>* preconditioner = solver.operators->preconditioner.operation.get();
  if constexpr (std::is_same_v<T, double>) {
    const FloatOperators& in_float = solver.operators->in_float;
    if (in_float.a != nullptr) {
      return lobpcg_mixed(space, *problem.a, preconditioner, in_float, orthogonal_to, std::move(initial), options,
                          observer, proceed);
    }
  }
  return lobpcg<T>(space, *problem.a, problem.b.get(), preconditioner, orthogonal_to, std::move(initial), options,
                   observer, proceed);
}

/// Vectors of a result for another solve to start from.
template <class T>
DenseBlock<T> vectors_of(BlockSpace<T>& space, const EigenResult<T>& result, int most) {
  const LocalIndex pairs = std::min<LocalIndex>(result.eigenvectors.cols(), most);
  const LocalIndex guards = std::min<LocalIndex>(result.guards.cols(), most - pairs);
  DenseBlock<T> block = space.make_block(pairs + guards);
  if (pairs > 0) space.copy(result.eigenvectors.columns(0, pairs), block.view().columns(0, pairs));
  if (guards > 0) space.copy(result.guards.columns(0, guards), block.view().columns(pairs, guards));
  return block;
}

/// A step of subspace iteration with factors, X = (A - sigma B)^-1 B X, for all columns but the first `found`.
/// What other preconditioners have left in X far from the wanted end, Rayleigh and Ritz see squared and
/// corrections hardly reach.
template <class T>
void refine_by_factors(BlockSpace<T>& space, Problem<T>& problem, LinearOperator<T>& factors, LocalIndex found,
                       DenseBlock<T>& block) {
  const LocalIndex columns = std::max<LocalIndex>(block.cols() - found, 0);
  if (columns == 0) return;
  const BlockView<T> x = block.view().columns(found, columns);
  DenseBlock<T> image = space.make_block(columns);
  if (problem.b) {
    problem.b->reserve(columns);
    problem.b->apply(x, image.view());
  } else {
    space.copy(x, image.view());
  }
  factors.reserve(columns);
  factors.apply(image.view(), x);
}

/// iterate by solver.config; nothing where there was no memory for a block that `auto` had made wider.
template <class T>
std::optional<EigenResult<T>> iterate_if_possible(BlockSpace<T>& space, Problem<T>& problem,
                                                  EigenSolver<T>& solver, const DenseBlock<T>& constraints,
                                                  DenseBlock<T> initial, const Observer& observer,
                                                  const Proceed& proceed, const Announce& announce) {
  try {
    return iterate(space, problem, solver, constraints, std::move(initial), solver.config.eigensolver.options,
                   observer, proceed);
  } catch (const Error& error) {
    if (dynamic_cast<const OnAllRanks*>(&error) == nullptr || error.exit_code() != ExitCode::run_failed) throw;
    if (!solver.choice || !solver.choice->narrow()) throw;
    if (announce) announce(std::string("fewer columns again, because so many could not be had: ") + error.what());
  }
  solver.config.eigensolver = solver.choice->config();
  return std::nullopt;
}

template <class T>
bool begins_in_float(const Problem<T>& problem, const EigenSolver<T>& solver) {
  return begins_in_float<T>(solver.config.eigensolver, problem.b != nullptr);
}

/// In units of eigenvalues: with ||x||_B = 1 a residual stands for B^-1/2 r.
template <class T>
ShiftFollower shift_follower(const Problem<T>& problem, const EigensolverConfig& config) {
  const double norm = problem.a->norm_inf();
  const double of_mass = problem.b ? problem.b->typical_row_sum() : 1.0;
  return {config.options.which, ShiftSearch::rounding(norm / of_mass), 1.0 / std::sqrt(of_mass)};
}

/// The shift of factors that may move: there are some, their shift is not given, and the block holds all pairs, so
/// that all that was found goes along.
template <class T>
double movable_shift(const EigenSolver<T>& solver) {
  const EigensolverConfig& config = solver.config.eigensolver;
  const bool fixed = config.preconditioner.direct.shift || config.options.pairs > block_width(config.options);
  return fixed ? std::numeric_limits<double>::quiet_NaN() : solver.operators->preconditioner.shift;
}

/// Makes the operators of solver.config, whose shift is looked for where `follower` saw the wanted values last.
template <class T>
void make_others(Problem<T>& problem, EigenSolver<T>& solver, const ShiftFollower& follower,
                 const Announce& announce) {
  PreconditionerConfig& config = solver.config.eigensolver.preconditioner;
  const double shift_before = solver.operators->preconditioner.shift;
  const bool factors = config.type == PreconditionerType::direct;
  follower.aim(config.direct);
  solver.operators.reset();
  if (!factors) problem.factorization.reset();
  solver.operators = other_operators(problem, solver.config, config, begins_in_float(problem, solver), announce);
  if (factors && config.type != PreconditionerType::direct && std::isfinite(shift_before)) {
    // Factors that were good enough so far are better than none; from here on their shift stays.
    config.type = PreconditionerType::direct;
    config.direct.shift = shift_before;
    solver.operators = other_operators(problem, solver.config, config, begins_in_float(problem, solver), announce);
  }
  if (announce && config.type == PreconditionerType::direct) announce(solver.operators->preconditioner.made);
}

}  // namespace

template <class T>
bool begins_in_float(const EigensolverConfig& config, bool with_mass) {
  return std::is_same_v<T, double> && config.inner_precision == Precision::float32 && !with_mass;
}

template <class T>
EigenSolver<T> make_solver(BlockSpace<T>& space, Problem<T>& problem, const RunConfig& asked,
                           const DenseBlock<T>& constraints) {
  LonePairs lone = take_out_lone_rows(space, problem, asked.eigensolver, constraints);
  const RunConfig config = for_others(asked, lone);
  EigenSolver<T> solver{config, std::move(lone), {}, {}};
  EigensolverConfig& scaled = solver.config.eigensolver;
  scaled.options = in_scaled_units(config.eigensolver.options, problem.scaling);
  scaled.preconditioner = in_scaled_units(config.eigensolver.preconditioner, problem.scaling);
  scaled.preconditioner.direct.end = scaled.options.which;
  if (config.eigensolver.preconditioner.type == PreconditionerType::automatic) {
    MatrixTraits traits = examine(problem.context.comm, problem.a_rows, problem.partition);
    const Communicator& comm = problem.context.comm;
    // Rows that were taken out are nobody's concern.
    const auto taken_out = static_cast<double>(comm.sum(static_cast<std::int64_t>(problem.lone.rows.size())));
    traits.null_rows = traits.null_rows && taken_out < traits.alone;
    std::optional<MassTraits> mass;
    if (problem.b) mass = examine_mass(comm, problem.b->diagonal(), problem.b->scaled_gershgorin_bound());
    const double mass_nonzeros = problem.b ? static_cast<double>(problem.b->global_nonzeros()) : 0.0;
    const CostModel costs = cost_model(traits, mass_nonzeros, block_width(config.eigensolver.options), sizeof(T),
                                       problem.context.device->backend(), comm.size());
    solver.choice.emplace(traits, costs, scaled, mass);
    solver.config.eigensolver = solver.choice->config();
  }
  solver.operators = chosen_operators(problem, solver.config, solver.config.eigensolver.preconditioner,
                                      begins_in_float(problem, solver), solver.choice.has_value());
  return solver;
}

template <class T>
EigenResult<T> eigensolve(BlockSpace<T>& space, Problem<T>& problem, EigenSolver<T>& solver,
                          StartVectors<T>& start, const Observer& observer, const Announce& announce,
                          const Proceed& wanted) {
  if (solver.config.eigensolver.options.pairs == 0) return {};
  const Stopwatch setup;
  DenseBlock<T> initial =
      start_block(solver.operators->preconditioner, solver.config.eigensolver, std::move(start.initial));
  const double setup_seconds = setup.seconds();
  bool stopped = false;
  bool moves = false;
  ShiftFollower follower = shift_follower(problem, solver.config.eigensolver);
  const bool may_factorise =
      solver.choice || solver.config.eigensolver.preconditioner.type == PreconditionerType::direct;
  Proceed proceed;
  if (may_factorise || wanted) {
    proceed = [&](const IterationReport& report) {
      stopped |= wanted && !wanted(report);
      moves = !stopped && !follower.proceed(report);
      return !stopped && !moves && (!solver.choice || solver.choice->proceed(report));
    };
  }
  if (solver.choice) solver.choice->allow_factors([&] { return foreseen_factors(problem); });
  follower.begin(movable_shift(solver));
  EigenResult<T> result = iterate(space, problem, solver, start.constraints, std::move(initial),
                                  solver.config.eigensolver.options, observer, proceed);
  result.setup_seconds += setup_seconds;
  const auto held = [&] {
    return held_by_constraints(space, *problem.a, problem.b.get(), start.constraints, result);
  };
  while (!stopped && (moves || (solver.choice && !held() && solver.choice->change(result.limitation)))) {
    const int columns = block_width(solver.config.eigensolver.options);
    const Stopwatch again;
    if (solver.choice && moves) solver.choice->begin();
    if (solver.choice && !moves) {
      solver.config.eigensolver = solver.choice->config();
      if (announce) announce("preconditioner from here on: " + solver.choice->description());
    }
    moves = false;
    make_others(problem, solver, follower, announce);
    follower.begin(movable_shift(solver));
    const LobpcgOptions& options = solver.config.eigensolver.options;
    const bool wider = block_width(options) > columns;
    // Filters bring forth all columns of a wider block alike, and would see in these that nothing comes forward.
    initial = wider && options.filtered_start ? DenseBlock<T>() : vectors_of(space, result, block_width(options));
    const PreconditionerConfig& taken = solver.config.eigensolver.preconditioner;
    if (taken.type == PreconditionerType::direct)
      refine_by_factors(space, problem, *solver.operators->preconditioner.operation,
                        static_cast<LocalIndex>(taken.direct.found.size()), initial);
    // They are what is left where there is no memory for a wider block.
    if (!wider) {
      result.eigenvectors = {};
      result.guards = {};
    }
    const double seconds = again.seconds();
    std::optional<EigenResult<T>> next = iterate_if_possible(space, problem, solver, start.constraints,
                                                             std::move(initial), observer, proceed, announce);
    if (!next) {
      follower.forget();  // vectors that were found went with the attempt
      continue;
    }
    next->setup_seconds += seconds;
    count_in(result, *next);
    result = std::move(*next);
  }
  if (!stopped && held()) {
    result.limitation = Limitation::precision;
    result.remark = held_by_constraints_remark;
  }
  return result;
}

template <class T>
Proof prove_result(BlockSpace<T>& space, Problem<T>& problem, const Sources& sources, const EigenSolver<T>& solver,
                   const DenseBlock<T>& constraints, const Observer& observer, EigenResult<T>& result,
                   const Proceed& wanted) {
  const auto again = [&](DenseBlock<T> vectors, const LobpcgOptions& options) {
    return iterate(space, problem, solver, constraints, std::move(vectors), options, observer, wanted);
  };
  Proof proof = prove<T>(
      {space, problem, *solver.operators, sources, constraints, solver.config.eigensolver, again}, result);
  add_lone_pairs(space, solver.lone, solver.config.eigensolver.options.which, result);
  return proof;
}

template <class T>
Verification verify_result(BlockSpace<T>& space, Problem<T>& problem, const Sources& sources,
                           const RunConfig& config, EigenResult<T>& result) {
  const LobpcgOptions options = in_scaled_units(config.eigensolver.options, problem.scaling);
  Verification verified;
  if constexpr (std::is_same_v<T, double>) {
    verified = verify(problem, result.eigenvectors, result.eigenvalues, false, options);
  } else {
    Problem<double> exact = read_exactly(problem, sources, config);
    verified = verify(exact, result.eigenvectors, result.eigenvalues, true, options);
  }
  sort_pairs(space, verified, result.eigenvectors, options.which);
  return verified;
}

template bool begins_in_float<float>(const EigensolverConfig&, bool);
template EigenSolver<float> make_solver(BlockSpace<float>&, Problem<float>&, const RunConfig&,
                                        const DenseBlock<float>&);
template EigenResult<float> eigensolve(BlockSpace<float>&, Problem<float>&, EigenSolver<float>&,
                                       StartVectors<float>&, const Observer&, const Announce&, const Proceed&);
template bool begins_in_float<double>(const EigensolverConfig&, bool);
template EigenSolver<double> make_solver(BlockSpace<double>&, Problem<double>&, const RunConfig&,
                                         const DenseBlock<double>&);
template EigenResult<double> eigensolve(BlockSpace<double>&, Problem<double>&, EigenSolver<double>&,
                                        StartVectors<double>&, const Observer&, const Announce&, const Proceed&);
template Proof prove_result(BlockSpace<float>&, Problem<float>&, const Sources&, const EigenSolver<float>&,
                            const DenseBlock<float>&, const Observer&, EigenResult<float>&, const Proceed&);
template Proof prove_result(BlockSpace<double>&, Problem<double>&, const Sources&, const EigenSolver<double>&,
                            const DenseBlock<double>&, const Observer&, EigenResult<double>&, const Proceed&);
template Verification verify_result(BlockSpace<float>&, Problem<float>&, const Sources&, const RunConfig&,
                                    EigenResult<float>&);
template Verification verify_result(BlockSpace<double>&, Problem<double>&, const Sources&, const RunConfig&,
                                    EigenResult<double>&);

}  // namespace block_eigs
