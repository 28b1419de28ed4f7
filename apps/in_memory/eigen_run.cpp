#include "apps/in_memory/eigen_run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "apps/in_memory/estimated_norm.hpp"
#include "apps/in_memory/notes.hpp"
#include "apps/in_memory/operator_limits.hpp"
#include "apps/input/block_input.hpp"
#include "apps/journey/eigensolve.hpp"
#include "apps/journey/inner_precision.hpp"
#include "apps/journey/proof.hpp"
#include "apps/journey/scaled_units.hpp"
#include "apps/journey/stages.hpp"
#include "apps/journey/verify.hpp"
#include "apps/report/advice_eigen.hpp"
#include "apps/report/record.hpp"
#include "apps/report/text.hpp"
#include "io/source/check_matrix.hpp"
#include "io/source/stored_zeros.hpp"
#include "solver/small/dependent_columns.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/error.hpp"
#include "spmm/matrix/distributed_matrix.hpp"

namespace block_eigs {

namespace {

constexpr const char* program = "eigsh";

/// Records and advice of a result in the caller's units.
template <class T>
void conclude(const EigenResult<T>& result, const Verification& verified, const Proof& proof,
              const RunConfig& config, const LobpcgOptions& options, bool entries_known, EigenAnswer<T>& answer) {
  const int pairs = config.eigensolver.options.pairs;
  answer.pairs = pairs_record(verified, proof);
  answer.history = history_record(result.history, pairs);
  const bool all = static_cast<int>(verified.outcomes.size()) == pairs;
  if (all && std::count(verified.outcomes.begin(), verified.outcomes.end(), Outcome::not_converged) == 0) return;
  UnfinishedEigensolve unfinished = unfinished_eigensolve(verified, result.limitation, result.history, options);
  unfinished.entries_known = entries_known;
  note_advice(advise(unfinished, config), answer.notes);
}

template <class T>
Problem<T> read_problem(const Context<T>& context, const Sources& sources, const EigenInput<T>& input) {
  const EigensolverConfig& solver = input.config.eigensolver;
  ReadOptions options = read_options(context, input.config, solver.preconditioner,
                                     begins_in_float<T>(solver, sources.b != nullptr), sources.a->rows());
  options.partition = input.partition;
  options.hold = pairs_to_hold_for(solver);
  return read_problem(context, sources, options);
}

/// The way of apps/journey/run.cpp.
template <class T>
EigenAnswer<T> solve_matrices(const Context<T>& context, EigenInput<T>& input, const Proceed& wanted) {
  if (input.preconditioner) begin_in_double(input.config.eigensolver);
  const RunConfig& config = input.config;
  EigenAnswer<T> answer;
  const auto note = [&](const std::string& text) { answer.notes.preconditioner.push_back(text); };
  Sources sources{std::make_unique<WithoutStoredZeros>(context.comm, std::move(input.a.matrix)), nullptr};
  if (input.b.matrix) sources.b = std::make_unique<WithoutStoredZeros>(context.comm, std::move(input.b.matrix));
  require_proof(context.comm, config.eigensolver);
  Problem<T> problem = read_problem(context, sources, input);
  BlockSpace<T> space(context, problem.partition);
  StartVectors<T> start = read_start_vectors(space, config.eigensolver);

  const Stopwatch setup;
  EigenSolver<T> solver = make_solver(space, problem, config, start.constraints);
  if (problem.held.any()) note(description(problem.held));
  if (solver.lone.rows_of_all > solver.lone.held) note(description(solver.lone));
  if (solver.choice) note(solver.choice->description());
  if (input.preconditioner) solver.operators->take(std::move(input.preconditioner));
  if (!solver.operators->preconditioner.made.empty()) note(solver.operators->preconditioner.made);
  const double setup_seconds = setup.seconds();
  EigenResult<T> result = eigensolve(space, problem, solver, start, Observer{}, note, wanted);
  if (config.max_seconds && space.to_end_early() && result.limitation == Limitation::stopped)
    result.remark = fmt::format("max_seconds = {:g} reached", *config.max_seconds);
  const Proof proof =
      prove_result(space, problem, sources, solver, start.constraints, Observer{}, result, 0.0, wanted);
  solver.config.eigensolver.options.pairs = config.eigensolver.options.pairs;
  solver.operators.reset();
  answer.run = run_record(problem, sources, config, program,
                          {setup_seconds + result.setup_seconds, result.solve_seconds, result.iterations,
                           remark_of_all(result.remark, proof)});
  Verification verified = verify_result(space, problem, sources, config, result);
  give_up_missing(verified, proof);
  undo_scaling(problem.scaling, space, verified, result);
  conclude(result, verified, proof, config, solver.config.eigensolver.options, true, answer);
  hand_over(context, result.eigenvectors, input.place, answer);
  return answer;
}

/// The operator, made of the matrix where that is what is given. Collective.
template <class T>
std::unique_ptr<LinearOperator<T>> make_operator(const Context<T>& context, OperatorInput<T>& input,
                                                 const Partition& partition) {
  if (!input.matrix) return std::move(input.operation);
  CsrRows rows = input.matrix->read(partition);
  check_finite(context.comm, rows, input.matrix->description());
  check_symmetric(context.comm, partition, rows, input.matrix->description(),
                  std::is_same_v<T, float> ? symmetry_tolerance_in_float : symmetry_tolerance);
  return std::make_unique<DistributedMatrix<T>>(context, std::move(rows), partition, partition);
}

/// What the solver found by computing A x and B x anew. Norms of the operators are not known, so that what a
/// residual means beside lambda is all that can be told.
template <class T>
Verification verification_of(BlockSpace<T>& space, LinearOperator<T>* b, const EigenResult<T>& result,
                             const LobpcgOptions& options) {
  Verification verified;
  verified.eigenvalues = result.eigenvalues;
  verified.residual_norms = result.residual_norms;
  verified.by_norm.assign(result.eigenvalues.size(), std::numeric_limits<double>::infinity());
  verified.error_bounds = result.error_bounds;
  verified.bounds = b == nullptr ? BoundKind::rigorous : BoundKind::unknown;
  verified.outcomes = result.outcomes;
  verified.requested = options.tolerance;
  const LocalIndex columns = result.eigenvectors.cols();
  DenseBlock<T> image = space.make_block(columns);
  if (columns == 0) return verified;
  if (b != nullptr) {
    b->apply(result.eigenvectors.view(), image.view());
  } else {
    space.copy(result.eigenvectors.view(), image.view());
  }
  const std::vector<double> norms = space.column_norms(image.view());
  for (std::size_t j = 0; j < norms.size(); ++j) {
    const double scale =
        options.convergence == Convergence::absolute ? 1.0 : std::abs(verified.eigenvalues[j]) * norms[j];
    const double residual = verified.residual_norms[j];
    verified.attained.push_back(scale > 0.0    ? residual / scale
                                : residual > 0 ? std::numeric_limits<double>::infinity()
                                               : 0.0);
  }
  SmallMatrix gram;
  space.gram({result.eigenvectors.view()}, {image.view()}, gram);
  const std::vector<bool> dependent = dependent_columns(gram);
  for (int j = 0; j < columns; ++j) {
    for (int i = 0; i < columns; ++i)
      verified.orthonormality = std::max(verified.orthonormality, std::abs(gram(i, j) - (i == j ? 1.0 : 0.0)));
    if (dependent[static_cast<std::size_t>(j)])
      verified.outcomes[static_cast<std::size_t>(j)] = Outcome::not_converged;
  }
  return verified;
}

template <class T>
EigenAnswer<T> solve_operators(const Context<T>& context, EigenInput<T>& input, const Proceed& wanted) {
  const RunConfig& config = input.config;
  const EigensolverConfig& solver = config.eigensolver;
  require_no_entries(solver.preconditioner);
  require(solver.verify != Verify::inertia, "verify: inertia needs the entries of a matrix");
  EigenAnswer<T> answer;
  BlockSpace<T> space(context, input.partition);
  const auto a = with_estimated_norm(space, make_operator(context, input.a, input.partition));
  const auto b = with_estimated_norm(space, make_operator(context, input.b, input.partition));
  StartVectors<T> start = read_start_vectors(space, solver);
  EigenResult<T> result = lobpcg<T>(space, *a, b.get(), input.preconditioner.get(),
                                    start.constraints.cols() > 0 ? &start.constraints : nullptr,
                                    std::move(start.initial), solver.options, Observer{}, wanted);
  const Verification verified = verification_of(space, b.get(), result, solver.options);
  const Proof proof;
  answer.run = operator_record(context, input, program,
                               {result.setup_seconds, result.solve_seconds, result.iterations, result.remark});
  conclude(result, verified, proof, config, solver.options, false, answer);
  hand_over(context, result.eigenvectors, input.place, answer);
  return answer;
}

}  // namespace

template <class T>
EigenAnswer<T> run_eigensolver(const Context<T>& context, EigenInput<T> input, const Proceed& wanted) {
  if (input.config.profile) context.profile->start();
  if (input.config.max_seconds && context.comm.is_root()) context.stop->end_after(*input.config.max_seconds);
  const int pairs = input.config.eigensolver.options.pairs;
  require(pairs <= input.partition.rows(),
          fmt::format("k: {} pairs are asked for, but A has {} rows", pairs, input.partition.rows()));
  const bool matrices = input.a.matrix && !input.b.operation;
  EigenAnswer<T> answer =
      matrices ? solve_matrices(context, input, wanted) : solve_operators(context, input, wanted);
  note_phases(*context.profile, answer.notes);
  return answer;
}

template EigenAnswer<float> run_eigensolver(const Context<float>&, EigenInput<float>, const Proceed&);
template EigenAnswer<double> run_eigensolver(const Context<double>&, EigenInput<double>, const Proceed&);

}  // namespace block_eigs
