#include "solver/lobpcg/lobpcg.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "solver/lobpcg/dense_eigensolver.hpp"
#include "solver/lobpcg/filtered_start.hpp"
#include "solver/lobpcg/lobpcg_checkpoint.hpp"
#include "solver/lobpcg/lobpcg_phases.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// Rows of the largest dense eigenproblem: a few matrices of 3 GB on one rank, and LAPACK's workspace counts
/// within their type.
constexpr GlobalIndex largest_dense = 20000;

void check_options(const LobpcgOptions& options, GlobalIndex dimension, int constraints) {
  const GlobalIndex room = dimension - constraints;
  require(options.pairs >= 1, "eigensolver.pairs must be at least 1, not " + std::to_string(options.pairs));
  require(options.pairs <= room,
          "eigensolver.pairs = " + std::to_string(options.pairs) + ", but the matrix has only " +
              std::to_string(dimension) + " rows" +
              (constraints > 0 ? " and " + std::to_string(constraints) + " constraints" : ""));
  require(options.block_size >= 0, "eigensolver.block_size must not be negative");
  require(options.tolerance >= 0.0, "eigensolver.tolerance must not be negative");
  require(options.dense_up_to >= 0 && options.dense_up_to <= largest_dense,
          "eigensolver.dense_up_to must be from 0 to " + std::to_string(largest_dense));
  require(options.max_iterations >= 0, "eigensolver.max_iterations must not be negative");
  require(!solves_densely(options, dimension, constraints) || dimension <= largest_dense,
          "eigensolver.pairs = " + std::to_string(options.pairs) + " of " + std::to_string(dimension) +
              " rows would be a dense eigenproblem, which ends at " + std::to_string(largest_dense) +
              " rows: ask for at most " + std::to_string(dimension / 5 - constraints) + " pairs");
}

template <class T>
void check_arguments(BlockSpace<T>& space, const DenseBlock<T>* constraints, const DenseBlock<T>& initial,
                     const LobpcgOptions& options) {
  const int width = block_width(options);
  space.comm().collectively([&] {
    check_options(options, space.dimension(), constraints != nullptr ? constraints->cols() : 0);
    require(initial.cols() <= width, "eigensolver.initial holds " + std::to_string(initial.cols()) +
                                         " vectors, more than block_size = " + std::to_string(width));
  });
}

}  // namespace

bool solves_densely(const LobpcgOptions& options, GlobalIndex rows, int constraints) {
  return options.dense || 5 * (GlobalIndex{std::max(block_width(options), options.pairs)} + constraints) > rows;
}

Budget iteration_budget(const LobpcgOptions& options, bool filtered) {
  constexpr int most = std::numeric_limits<int>::max();
  const int windows = window_count(options, filtered);
  const int all = options.max_iterations < most / windows ? options.max_iterations * windows : most;
  return Budget(std::max(all - options.iterations_before, 0));
}

template <class T>
EigenResult<T> lobpcg(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* b,
                      LinearOperator<T>* preconditioner, const DenseBlock<T>* constraints, DenseBlock<T> initial,
                      const LobpcgOptions& options, const Observer& observer, const Proceed& proceed,
                      Checkpoint* checkpoint) {
  check_arguments(space, constraints, initial, options);
  if (solves_densely(options, space.dimension(), constraints != nullptr ? constraints->cols() : 0))
    return dense_eigensolve(space, a, b, constraints, options);
  const EigenProblem<T> problem{space, a, b, preconditioner};
  std::vector<LobpcgIteration> history;
  Budget budget =
      resumed_budget(checkpoint, iteration_budget(options, starts_filtered(problem, options)), history);
  const LobpcgRun<T> run{
      problem, options, {}, budget, observer, proceed, history, first_iteration(checkpoint, budget), checkpoint};
  EigenResult<T> result = iterate_verified(run, constraints, {{std::move(initial)}});
  finish_densely(space, a, b, constraints, options, result);
  return result;
}

template <class T>
DenseBlock<T> approximate_eigenvectors(BlockSpace<T>& space, LinearOperator<T>& a,
                                       LinearOperator<T>* preconditioner, DenseBlock<T> initial,
                                       const LobpcgOptions& options) {
  check_arguments<T>(space, nullptr, initial, options);
  const EigenProblem<T> problem{space, a, nullptr, preconditioner};
  Budget budget(options.max_iterations);
  std::vector<LobpcgIteration> history;
  LobpcgPhase phase = LobpcgPhase::low_precision();
  phase.budget_share = 1.0;
  const Observer nobody;
  const Proceed always;
  const LobpcgRun<T> run{problem, options, phase, budget, nobody, always, history};
  DenseBlock<T> found = iterate_unverified<T>(run, nullptr, std::move(initial)).vectors.block;
  if (found.cols() <= options.pairs) return found;
  DenseBlock<T> pairs = space.make_block(options.pairs);
  space.copy(found.columns(0, options.pairs), pairs.view());
  return pairs;
}

template EigenResult<float> lobpcg(BlockSpace<float>&, LinearOperator<float>&, LinearOperator<float>*,
                                   LinearOperator<float>*, const DenseBlock<float>*, DenseBlock<float>,
                                   const LobpcgOptions&, const Observer&, const Proceed&, Checkpoint*);
template EigenResult<double> lobpcg(BlockSpace<double>&, LinearOperator<double>&, LinearOperator<double>*,
                                    LinearOperator<double>*, const DenseBlock<double>*, DenseBlock<double>,
                                    const LobpcgOptions&, const Observer&, const Proceed&, Checkpoint*);
template DenseBlock<float> approximate_eigenvectors(BlockSpace<float>&, LinearOperator<float>&,
                                                    LinearOperator<float>*, DenseBlock<float>,
                                                    const LobpcgOptions&);
template DenseBlock<double> approximate_eigenvectors(BlockSpace<double>&, LinearOperator<double>&,
                                                     LinearOperator<double>*, DenseBlock<double>,
                                                     const LobpcgOptions&);

}  // namespace block_eigs
