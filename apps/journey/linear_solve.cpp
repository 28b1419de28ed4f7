#include "apps/journey/linear_solve.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "apps/checkpoint/finished.hpp"
#include "apps/input/direct.hpp"
#include "apps/journey/inner_precision.hpp"
#include "apps/journey/multigrid_passed_over.hpp"
#include "apps/journey/null_vectors.hpp"
#include "apps/journey/scaled_units.hpp"
#include "apps/journey/stages.hpp"
#include "apps/journey/verify_solution.hpp"
#include "solver/block_cg/block_cg_adaptive.hpp"
#include "solver/block_cg/column_scaling.hpp"
#include "solver/block_cg/linear_residual_test.hpp"

namespace block_eigs {

namespace {

template <class T>
CgOperators<T> cg_operators(const LinearSolver<T>& solver) {
  const Operators<T>& operators = *solver.operators;
  return {operators.preconditioner.operation.get(), operators.in_float.a, operators.in_float.preconditioner,
          solver.config.linear_solver.preconditioner.type == PreconditionerType::direct};
}

/// Of the present choice. What others have failed at, or been slow at, is not begun in float unasked.
template <class T>
void make_chosen(Problem<T>& problem, LinearSolver<T>& solver, GlobalIndex right_hand_sides,
                 const Announce& announce) {
  LinearSolverConfig& config = solver.config.linear_solver;
  const bool had_factors = config.preconditioner.type == PreconditionerType::direct;
  config = solver.choice->config();
  const bool wants_factors = config.preconditioner.type == PreconditionerType::direct;
  if (solver.choice->taken().size() == 1 && !solver.config.checkpoint)
    begin_in_float_where_it_pays(problem, right_hand_sides, config);
  solver.operators.reset();
  if (had_factors && !wants_factors) problem.factorization.reset();
  solver.operators =
      other_operators(problem, solver.config, config.preconditioner, iterates_in_float<T>(config), announce);
  const bool has_factors = config.preconditioner.type == PreconditionerType::direct;
  // Made to the end, where A has then been found not to be positive definite.
  if (wants_factors && !has_factors) problem.factorization.reset();
  if (config.preconditioner.type != solver.choice->config().preconditioner.type) solver.choice->lose();
  if (!solver.operators->unfit.empty()) solver.unfit = solver.operators->unfit;
  if (!multigrid_is_passed_over(solver)) return;
  if (announce) announce("preconditioner from here on: " + solver.choice->description());
  make_chosen(problem, solver, right_hand_sides, announce);
}

/// What factors have found of A is why conjugate gradients have not got to the end.
template <class T>
void count_in(const std::string& unfit, BlockCgResult<T>& result) {
  const auto undone = [](Outcome outcome) { return outcome == Outcome::not_converged; };
  if (unfit.empty() || std::none_of(result.outcomes.begin(), result.outcomes.end(), undone)) return;
  result.findings.indefinite_matrix = true;
  result.findings.end = BlockCgEnd::indefinite_matrix;
  constexpr std::string_view prefix = "preconditioner: direct: ";
  result.remark = unfit.starts_with(prefix) ? unfit.substr(prefix.size()) : unfit;
}

/// Residuals of solutions whose smallest entries were rounded, and outcomes that are no longer true: in units in
/// which squares of all these numbers may be zero. Collective.
template <class T>
void judge_rounded(BlockSpace<T>& space, LinearOperator<T>& a, const DenseBlock<T>& f, double tolerance,
                   BlockCgResult<T>& result) {
  DenseBlock<T> r = space.make_block(f.cols());
  a.apply(result.solution.view(), r.view());
  space.kernels().axpby(1.0, f.view(), -1.0, r.view());
  const ColumnScaling residuals = column_scaling<T>(space, r.view(), f.cols());
  const ColumnScaling solutions = column_scaling<T>(space, result.solution.view(), f.cols());
  const LinearResidualTest test(tolerance, a.norm_inf(), std::numeric_limits<T>::epsilon());
  bool lost = false;
  for (std::size_t j = 0; j < result.outcomes.size(); ++j) {
    result.residual_norms[j] = residuals.norm(j);
    if (result.outcomes[j] != Outcome::converged) continue;
    const double scale = test.product_scale(solutions.norm(j));
    result.outcomes[j] = test.judge(result.residual_norms[j], result.rhs_norms[j], scale);
    lost |= result.outcomes[j] != Outcome::converged;
  }
  if (!lost) return;
  if (result.findings.end == BlockCgEnd::solved) result.findings.end = BlockCgEnd::beyond_range;
  if (!result.remark.empty()) result.remark += "; ";
  result.remark +=
      "entries of a solution are below the range of the arithmetic, in rows of A that are large: "
      "multiply the right-hand sides by a constant";
}

}  // namespace

template <class T>
bool iterates_in_float(const LinearSolverConfig& config) {
  return std::is_same_v<T, double> && config.inner_precision == Precision::float32;
}

template <class T>
LinearSolver<T> make_linear_solver(Problem<T>& problem, const RunConfig& config, GlobalIndex right_hand_sides,
                                   const Announce& announce, const RunCheckpoint* checkpoint) {
  LinearSolver<T> solver{config, {}, {}, {}, {}};
  LinearSolverConfig& scaled = solver.config.linear_solver;
  scaled.preconditioner = in_scaled_units(config.linear_solver.preconditioner, problem.scaling);
  if (scaled.preconditioner.type != PreconditionerType::automatic) {
    // Of a round in float nothing is saved before its end: a run that was killed would begin again.
    if (!config.checkpoint) begin_in_float_where_it_pays(problem, right_hand_sides, scaled);
    solver.operators =
        chosen_operators(problem, solver.config, scaled.preconditioner, iterates_in_float<T>(scaled), false);
    return solver;
  }
  const MatrixTraits traits = examine(problem.context.comm, problem.a_rows, problem.partition);
  const CostModel costs = cost_model(traits, 0.0, linear_columns(scaled, right_hand_sides), sizeof(T),
                                     problem.context.device->backend(), problem.context.comm.size());
  solver.choice.emplace(traits, costs, scaled, right_hand_sides);
  if (checkpoint != nullptr) resume_choice(checkpoint->found(), *solver.choice);
  if (announce) announce("preconditioner: " + solver.choice->description());
  make_chosen(problem, solver, right_hand_sides, announce);
  return solver;
}

template <class T>
BlockCgResult<T> solve_linear(BlockSpace<T>& space, Problem<T>& problem, LinearSolver<T>& solver,
                              const DenseBlock<T>& f, DenseBlock<T> initial, const Observer& observer,
                              const Announce& announce, const Proceed& wanted, RunCheckpoint* checkpoint) {
  const LinearSolverConfig& config = solver.config.linear_solver;
  CgDecisions<T> decisions;
  if (solver.choice) {
    LinearSolverChoice& choice = *solver.choice;
    choice.allow_factors([&] { return foreseen_factors(problem, std::min(config.block_size, f.cols())); });
    decisions.begin = [&choice] { choice.begin(); };
    decisions.proceed = [&choice](const IterationReport& report) { return choice.proceed(report); };
    decisions.change = [&choice](Limitation limitation, bool has_solved) {
      return choice.change(limitation, has_solved);
    };
    decisions.make = [&] {
      if (announce) announce("preconditioner from here on: " + solver.choice->description());
      make_chosen(problem, solver, f.cols(), announce);
      if (announce && solver.config.linear_solver.preconditioner.type == PreconditionerType::direct)
        announce(solver.operators->preconditioner.made);
      if (solver.changed) solver.changed();
      return cg_operators(solver);
    };
  }
  const RangePart<T> part =
      part_in_range(space, find_null_vectors(space, *problem.a), f, config.tolerance, problem.order.get());
  const BlockCgOptions options{config.tolerance, config.max_iterations, config.block_size, part.shares,
                               !config.inner_precision_given};
  if (checkpoint != nullptr)
    checkpoint->describe_journey([&solver] {
      Journey journey;
      if (solver.choice) add_choice(*solver.choice, journey);
      return journey;
    });
  BlockCgResult<T> result;
  if (checkpoint != nullptr && checkpoint->finished()) {
    read_finished(space, *checkpoint, result);
  } else {
    result = block_cg_adaptive<T>(space, *problem.a, cg_operators(solver), decisions, part.any() ? part.f : f,
                                  std::move(initial), options, observer, wanted, checkpoint);
    if (checkpoint != nullptr) {
      write_finished(*checkpoint, result);
      checkpoint->conclude();
    }
  }
  count_in(solver.unfit, result);
  count_in(part, result);
  if (round_to_units(problem.scaling, space, result))
    judge_rounded(space, *problem.a, f, config.tolerance, result);
  return result;
}

template <class T>
SolutionCheck verify_solutions(Problem<T>& problem, const Sources& sources, const RunConfig& config,
                               RightHandSides& sides, const DenseBlock<T>& f, const BlockCgResult<T>& result) {
  if constexpr (std::is_same_v<T, double>) {
    return {result.rhs_norms, result.residual_norms, result.outcomes};
  } else {
    Problem<double> exact = read_exactly(problem, sources, config);
    return verify_solution(exact, sides, f, result, config.linear_solver.tolerance);
  }
}

template bool iterates_in_float<float>(const LinearSolverConfig&);
template LinearSolver<float> make_linear_solver(Problem<float>&, const RunConfig&, GlobalIndex, const Announce&,
                                                const RunCheckpoint*);
template BlockCgResult<float> solve_linear(BlockSpace<float>&, Problem<float>&, LinearSolver<float>&,
                                           const DenseBlock<float>&, DenseBlock<float>, const Observer&,
                                           const Announce&, const Proceed&, RunCheckpoint*);
template SolutionCheck verify_solutions(Problem<float>&, const Sources&, const RunConfig&, RightHandSides&,
                                        const DenseBlock<float>&, const BlockCgResult<float>&);
template bool iterates_in_float<double>(const LinearSolverConfig&);
template LinearSolver<double> make_linear_solver(Problem<double>&, const RunConfig&, GlobalIndex, const Announce&,
                                                 const RunCheckpoint*);
template BlockCgResult<double> solve_linear(BlockSpace<double>&, Problem<double>&, LinearSolver<double>&,
                                            const DenseBlock<double>&, DenseBlock<double>, const Observer&,
                                            const Announce&, const Proceed&, RunCheckpoint*);
template SolutionCheck verify_solutions(Problem<double>&, const Sources&, const RunConfig&, RightHandSides&,
                                        const DenseBlock<double>&, const BlockCgResult<double>&);

}  // namespace block_eigs
