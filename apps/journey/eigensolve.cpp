#include "apps/journey/eigensolve.hpp"
#include "apps/journey/complete_held.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "apps/checkpoint/finished.hpp"
#include "apps/choice/coupled_parts.hpp"
#include "apps/choice/look_at_spectrum.hpp"
#include "apps/input/direct.hpp"
#include "apps/journey/eigen_ways.hpp"
#include "apps/journey/inner_precision.hpp"
#include "apps/journey/memory_limits.hpp"
#include "apps/journey/multigrid_passed_over.hpp"
#include "apps/journey/proof.hpp"
#include "apps/journey/scaled_units.hpp"
#include "apps/journey/stages.hpp"
#include "apps/journey/verify.hpp"

namespace block_eigs {

template <class T>
bool begins_in_float(const EigensolverConfig& config, bool with_mass) {
  return std::is_same_v<T, double> && config.inner_precision == Precision::float32 && !with_mass;
}

namespace {

/// The next way where factors that `auto` has chosen cannot be made, which is found by making them.
template <class T>
void make_chosen(Problem<T>& problem, EigenSolver<T>& solver, const std::function<void()>& make) {
  for (;;) {
    try {
      make();
      return;
    } catch (const Error& error) {
      const bool factors = solver.config.eigensolver.preconditioner.type == PreconditionerType::direct;
      if (!factors || !solver.choice || dynamic_cast<const OnAllRanks*>(&error) == nullptr) throw;
      if (!solver.choice->pass_over(std::string("factors could not be made: ") + error.what())) throw;
    }
    problem.factorization.reset();
    solver.config.eigensolver = solver.choice->config();
  }
}

/// What parts that nothing couples make of a small problem. Collective.
template <class T>
void see_parts(const BlockSpace<T>& space, const Problem<T>& problem, int dense_up_to, MatrixTraits& traits,
               CostModel& costs) {
  constexpr double passes = 8.0;  // over all entries of the dense matrix
  if (space.dimension() > dense_up_to || traits.nearly_full()) return;
  const CoupledParts parts = coupled_parts(*problem.a, problem.b.get());
  traits.largest_part = parts.largest;
  if (traits.falls_apart())
    costs.dense *= std::min(1.0, parts.cubes / std::pow(traits.rows, 3) + passes / traits.rows);
}

/// Whether rank 0 can hold what a dense solver takes. Collective.
template <class T>
bool has_memory_for_dense(const BlockSpace<T>& space, const Problem<T>& problem) {
  const MemoryLeft left = memory_left(*problem.context.device);
  const double needed = dense_solver_bytes(static_cast<double>(space.dimension()), problem.b != nullptr);
  const Communicator& comm = problem.context.comm;
  return !comm.any(comm.is_root() && needed > std::min(left.node, left.process));
}

}  // namespace

template <class T>
EigenSolver<T> make_solver(BlockSpace<T>& space, Problem<T>& problem, const RunConfig& asked,
                           const DenseBlock<T>& constraints, const RunCheckpoint* checkpoint) {
  LonePairs lone = take_out_lone_rows(space, problem, asked.eigensolver, constraints);
  const RunConfig config = for_others(asked, lone);
  EigenSolver<T> solver{config, std::move(lone), {}, {}, {}};
  EigensolverConfig& scaled = solver.config.eigensolver;
  scaled.options = in_scaled_units(config.eigensolver.options, problem.scaling);
  constexpr double hubs = 32.0;  // rows so much larger than others bring forth eigenvalues of their own
  const double rows_of_rank = static_cast<double>(problem.partition.rows()) / problem.context.comm.size();
  scaled.options.filter_basis =
      builds_basis(scaled.filter, problem.context.device->backend(), rows_of_rank, block_width(scaled.options));
  scaled.options.expects_outliers =
      scaled.filter != FilterKind::block && problem.a->norm_inf() > hubs * problem.a->typical_row_sum();
  scaled.preconditioner = in_scaled_units(config.eigensolver.preconditioner, problem.scaling);
  scaled.preconditioner.direct.target.end = scaled.options.which;
  if (config.eigensolver.preconditioner.type == PreconditionerType::automatic) {
    MatrixTraits traits = examine(problem.context.comm, problem.a_rows, problem.partition);
    const Communicator& comm = problem.context.comm;
    // Rows that were taken out are nobody's concern.
    const auto taken_out = static_cast<double>(comm.sum(static_cast<std::int64_t>(problem.lone.rows.size())));
    traits.null_rows = traits.null_rows && taken_out < traits.alone;
    std::optional<MassTraits> mass;
    if (problem.b) mass = {problem.mass_spread.diagonal_ratio, problem.b->scaled_gershgorin_bound()};
    const double mass_nonzeros = problem.b ? static_cast<double>(problem.b->global_nonzeros()) : 0.0;
    CostModel costs = cost_model(traits, mass_nonzeros, block_width(config.eigensolver.options), sizeof(T),
                                 problem.context.device->backend(), comm.size());
    // Measured: the complement of the constraints is made of all eigenvectors of their projector.
    constexpr double with_complement = 5.0;
    if (constraints.cols() > 0) costs.dense *= with_complement;
    see_parts(space, problem, scaled.options.dense_up_to, traits, costs);
    // There all ways would be solved densely.
    scaled.options.dense = solves_densely(scaled.options, space.dimension(), constraints.cols());
    look_at_spectrum(space, *problem.a, problem.b != nullptr, scaled.options, traits);
    solver.choice.emplace(traits, costs, scaled, mass);
    if (checkpoint == nullptr || !resume_choice(checkpoint->found(), *solver.choice))
      solver.choice->weigh_factors([&] { return foreseen_factors(problem, block_width(scaled.options)); });
    if (!scaled.options.dense && !has_memory_for_dense(space, problem)) solver.choice->do_without_dense();
    solver.config.eigensolver = solver.choice->config();
  }
  begin_in_float_where_it_pays(problem, solver.config.eigensolver, checkpoint);
  const auto make = [&] {
    solver.operators.reset();
    solver.operators = chosen_operators(problem, solver.config, solver.config.eigensolver.preconditioner,
                                        begins_in_float<T>(solver.config.eigensolver, problem.b != nullptr),
                                        solver.choice.has_value());
  };
  make_chosen(problem, solver, make);
  if (multigrid_is_passed_over(solver)) {
    solver.config.eigensolver = solver.choice->config();
    make_chosen(problem, solver, make);
  }
  return solver;
}

template <class T>
EigenResult<T> eigensolve(BlockSpace<T>& space, Problem<T>& problem, EigenSolver<T>& solver,
                          StartVectors<T>& start, const Observer& observer, const Announce& announce,
                          const Proceed& wanted, RunCheckpoint* checkpoint) {
  if (solver.config.eigensolver.options.pairs == 0) return {};
  if (checkpoint != nullptr && checkpoint->finished()) return read_finished(space, *checkpoint);
  EigenResult<T> result =
      EigenWays<T>(space, problem, solver, start.constraints, observer, announce, wanted, checkpoint)
          .solve(std::move(start.initial));
  if (checkpoint != nullptr) {
    checkpoint->describe_journey([&solver] {
      Journey journey;
      if (solver.choice) add_choice(*solver.choice, journey);
      return journey;
    });
    write_finished(*checkpoint, solver.config.eigensolver.options.pairs, result);
    checkpoint->describe_journey({});
    checkpoint->conclude();
  }
  return result;
}

template <class T>
Proof prove_result(BlockSpace<T>& space, Problem<T>& problem, const Sources& sources, const EigenSolver<T>& solver,
                   const DenseBlock<T>& constraints, const Observer& observer, EigenResult<T>& result,
                   double granted, const Proceed& wanted) {
  const auto again = [&](DenseBlock<T> vectors, const LobpcgOptions& options) {
    return iterate(space, problem, solver, constraints, std::move(vectors), options, observer, wanted);
  };
  Proof proof = prove<T>(
      {space, problem, *solver.operators, sources, constraints, solver.config.eigensolver, again, granted},
      result);
  // Neither among what was counted nor among what was found there.
  const std::int64_t alone = solver.lone.rows_of_all - solver.lone.held;
  if (proof.counted >= 0 && proof.missing == 0 && alone > 0 && !solver.lone.values.empty())
    proof.statement += fmt::format("; those of {} rows that stand alone are known besides", alone);
  add_lone_pairs(space, solver.lone, solver.config.eigensolver.options.which, result);
  return proof;
}

template <class T>
Verification verify_result(BlockSpace<T>& space, Problem<T>& problem, const Sources& sources,
                           const RunConfig& config, EigenResult<T>& result) {
  const LobpcgOptions options = in_scaled_units(config.eigensolver.options, problem.scaling);
  Verification verified;
  if (std::is_same_v<T, float> || problem.held.any()) {
    const RowNorms of_others = row_norms(*problem.a);
    Problem<double> exact = read_exactly(problem, sources, config);
    complete_held_rows(exact, problem.held, result.eigenvalues, result.eigenvectors);
    verified = verify(exact, result.eigenvectors, result.eigenvalues, std::is_same_v<T, float>, options,
                      problem.held.any() ? std::optional(of_others) : std::nullopt);
  } else if constexpr (std::is_same_v<T, double>) {
    verified = verify(problem, result.eigenvectors, result.eigenvalues, false, options);
  }
  sort_pairs(space, verified, result.eigenvectors, options.which);
  return verified;
}

template bool begins_in_float<float>(const EigensolverConfig&, bool);
template EigenSolver<float> make_solver(BlockSpace<float>&, Problem<float>&, const RunConfig&,
                                        const DenseBlock<float>&, const RunCheckpoint*);
template EigenResult<float> eigensolve(BlockSpace<float>&, Problem<float>&, EigenSolver<float>&,
                                       StartVectors<float>&, const Observer&, const Announce&, const Proceed&,
                                       RunCheckpoint*);
template bool begins_in_float<double>(const EigensolverConfig&, bool);
template EigenSolver<double> make_solver(BlockSpace<double>&, Problem<double>&, const RunConfig&,
                                         const DenseBlock<double>&, const RunCheckpoint*);
template EigenResult<double> eigensolve(BlockSpace<double>&, Problem<double>&, EigenSolver<double>&,
                                        StartVectors<double>&, const Observer&, const Announce&, const Proceed&,
                                        RunCheckpoint*);
template Proof prove_result(BlockSpace<float>&, Problem<float>&, const Sources&, const EigenSolver<float>&,
                            const DenseBlock<float>&, const Observer&, EigenResult<float>&, double,
                            const Proceed&);
template Proof prove_result(BlockSpace<double>&, Problem<double>&, const Sources&, const EigenSolver<double>&,
                            const DenseBlock<double>&, const Observer&, EigenResult<double>&, double,
                            const Proceed&);
template Verification verify_result(BlockSpace<float>&, Problem<float>&, const Sources&, const RunConfig&,
                                    EigenResult<float>&);
template Verification verify_result(BlockSpace<double>&, Problem<double>&, const Sources&, const RunConfig&,
                                    EigenResult<double>&);

}  // namespace block_eigs
