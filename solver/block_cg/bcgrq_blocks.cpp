#include "solver/block_cg/bcgrq_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "spmm/error.hpp"

namespace block_eigs::bcgrq {

namespace {

/// The result so far, to which each block of right-hand sides adds its part.
template <class T>
struct Collected {
  const Observer& observer;
  BlockCgResult<T> result{};
  std::size_t first = 0;  ///< right-hand side of the block at work
  int done = 0;           ///< right-hand sides of earlier blocks
};

void check_finite(const Communicator& comm, const std::vector<double>& norms, const std::string& what) {
  comm.collectively([&] {
    for (std::size_t j = 0; j < norms.size(); ++j) {
      require(std::isfinite(norms[j]), what + std::to_string(j + 1) + " of " + std::to_string(norms.size()) +
                                           " holds values that are not finite, or too large to square");
    }
  });
}

template <class T>
void copy_recursive_norms(const std::vector<Column>& columns, Collected<T>& collected) {
  for (std::size_t j = 0; j < columns.size(); ++j) {
    collected.result.recursive_residual_norms[collected.first + j] = columns[j].recursive_norm;
  }
}

/// Adds an iteration to the history, and reports it to the observer.
template <class T>
void record_iteration(const std::vector<Column>& columns, LocalIndex directions, double seconds,
                      Collected<T>& collected) {
  BlockCgResult<T>& result = collected.result;
  ++result.total_iterations;
  copy_recursive_norms(columns, collected);
  result.history.push_back({result.recursive_residual_norms, seconds, directions});
  if (!collected.observer) return;
  IterationReport report;
  report.iteration = result.total_iterations;
  report.wanted = static_cast<int>(result.rhs_norms.size());
  report.converged = collected.done;
  report.active_columns = directions;
  report.products = directions;
  report.seconds = seconds;
  report.residual_norms = result.history.back().residual_norms;
  for (const Column& column : columns) {
    if (!column.active) ++report.converged;
    const double unit = column.limit > 0.0 ? column.limit : column.rhs_norm;
    if (unit > 0.0) report.worst = std::max(report.worst, column.recursive_norm / unit);
  }
  collected.observer(report);
}

/// Adds a block of right-hand sides that is solved to the result.
template <class T>
void collect(const Sides<T>& sides, Collected<T>& collected) {
  BlockCgResult<T>& result = collected.result;
  for (const Column& column : sides.columns) {
    result.residual_norms.push_back(column.true_norm);
    result.outcomes.push_back(column.outcome);
    result.iterations.push_back(column.iterations);
    if (column.outcome != Outcome::not_converged) ++collected.done;
  }
  copy_recursive_norms(sides.columns, collected);
  if (result.remark.find(sides.remark) != std::string::npos) return;
  result.remark += (result.remark.empty() ? "" : "; ") + sides.remark;
}

}  // namespace

template <class T>
void check_arguments(BlockSpace<T>& space, const DenseBlock<T>& f, const DenseBlock<T>& initial,
                     const BlockCgOptions& options) {
  space.comm().collectively([&] {
    require(f.cols() >= 1, "there is no right-hand side");
    require(f.rows() == space.local_rows(), "the right-hand sides have another number of rows than the matrix");
    require(initial.cols() == 0 || initial.cols() == f.cols(),
            "linear_solver.initial holds " + std::to_string(initial.cols()) + " vectors, but there are " +
                std::to_string(f.cols()) + " right-hand sides");
    require(options.block_size >= 1,
            "linear_solver.block_size must be at least 1, not " + std::to_string(options.block_size));
    require(options.tolerance >= 0.0, "linear_solver.tolerance must not be negative");
    require(options.max_iterations >= 0, "linear_solver.max_iterations must not be negative");
  });
}

template <class T>
BlockCgResult<T> solve_in_blocks(BlockSpace<T>& space, const DenseBlock<T>& f, DenseBlock<T> initial,
                                 const BlockCgOptions& options, const Observer& observer,
                                 Budget::Clock::time_point began, const SolveBlock<T>& solve) {
  const LocalIndex width = std::min<LocalIndex>(options.block_size, f.cols());
  const bool zero_guess = initial.cols() == 0;
  Collected<T> collected{observer};
  BlockCgResult<T>& result = collected.result;
  result.solution = zero_guess ? space.make_block(f.cols()) : std::move(initial);
  if (zero_guess) space.kernels().fill(result.solution.view(), 0.0);
  // In contiguous rows where the block is a part of many right-hand sides.
  DenseBlock<T> packed = f.cols() > width ? space.make_block(width) : DenseBlock<T>();
  result.rhs_norms = space.column_norms(f.view());
  check_finite(space.comm(), result.rhs_norms, "right-hand side ");
  if (!zero_guess) {
    check_finite(space.comm(), space.column_norms(result.solution.view()), "initial guess ");
  }
  result.recursive_residual_norms = result.rhs_norms;
  result.setup_seconds = Budget(0, began).seconds();
  for (LocalIndex first = 0; first < f.cols(); first += width) {
    const LocalIndex count = std::min(width, f.cols() - first);
    const BlockView<T> x = result.solution.columns(first, count);
    Sides<T> sides{f.columns(first, count), x, zero_guess, {}, {}};
    if (packed.cols() > 0) {
      sides.x = packed.columns(0, count);
      space.copy(x, sides.x);
    }
    collected.first = static_cast<std::size_t>(first);
    sides.columns.resize(static_cast<std::size_t>(count));
    for (std::size_t j = 0; j < sides.columns.size(); ++j) {
      sides.columns[j].rhs_norm = result.rhs_norms[collected.first + j];
    }
    Budget budget(options.max_iterations, began);
    solve(sides, budget, [&](LocalIndex directions) {
      record_iteration(sides.columns, directions, budget.seconds(), collected);
      return true;
    });
    if (packed.cols() > 0) space.copy(sides.x, x);
    collect(sides, collected);
  }
  result.solve_seconds = Budget(0, began).seconds() - result.setup_seconds;
  return std::move(result);
}

template void check_arguments(BlockSpace<float>&, const DenseBlock<float>&, const DenseBlock<float>&,
                              const BlockCgOptions&);
template void check_arguments(BlockSpace<double>&, const DenseBlock<double>&, const DenseBlock<double>&,
                              const BlockCgOptions&);
template BlockCgResult<float> solve_in_blocks(BlockSpace<float>&, const DenseBlock<float>&, DenseBlock<float>,
                                              const BlockCgOptions&, const Observer&, Budget::Clock::time_point,
                                              const SolveBlock<float>&);
template BlockCgResult<double> solve_in_blocks(BlockSpace<double>&, const DenseBlock<double>&, DenseBlock<double>,
                                               const BlockCgOptions&, const Observer&, Budget::Clock::time_point,
                                               const SolveBlock<double>&);

}  // namespace block_eigs::bcgrq
