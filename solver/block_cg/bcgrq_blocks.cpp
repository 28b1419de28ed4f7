#include "solver/block_cg/bcgrq_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "solver/block_cg/bcgrq_best.hpp"
#include "solver/block_cg/bcgrq_checkpoint.hpp"
#include "solver/block_cg/bcgrq_collected.hpp"
#include "solver/block_cg/bcgrq_one_by_one.hpp"
#include "solver/block_cg/block_storage.hpp"
#include "spmm/error.hpp"

namespace block_eigs::bcgrq {

namespace {

/// Where blocks begin, in the order in which they are solved: the one that a saved state was at work on, then all
/// that are not done. Those that have used up their iterations go on where there are more of them now.
template <class T>
std::vector<LocalIndex> blocks_to_solve(const Collected<T>& collected, LocalIndex width, bool resumes) {
  const std::vector<Outcome>& outcomes = collected.result.outcomes;
  const auto sides = static_cast<LocalIndex>(outcomes.size());
  std::vector<LocalIndex> blocks;
  if (resumes) blocks.push_back(static_cast<LocalIndex>(collected.first));
  for (LocalIndex first = 0; first < sides; first += width) {
    const auto begin = outcomes.begin() + first;
    const bool open = std::count(begin, begin + std::min(width, sides - first), Outcome::not_converged) > 0;
    if (open && (!resumes || first != blocks.front())) blocks.push_back(first);
  }
  return blocks;
}

/// Iterations that the block at work had in earlier turns; its columns are told of theirs.
template <class T>
int take_iterations(const Collected<T>& collected, Sides<T>& sides) {
  int most = 0;
  for (std::size_t j = 0; j < sides.columns.size(); ++j) {
    sides.columns[j].iterations = collected.result.iterations[collected.first + j];
    most = std::max(most, sides.columns[j].iterations);
  }
  return most;
}

void check_finite(const Communicator& comm, const ColumnScaling& scaling, const std::string& what) {
  comm.collectively([&] {
    const std::size_t count = scaling.exponents.size();
    for (std::size_t j = 0; j < count; ++j) {
      require(std::isfinite(scaling.norm(j)),
              what + std::to_string(j + 1) + " of " + std::to_string(count) +
                  " holds values that are not finite, or is too long for a number");
    }
  });
}

/// Of the right-hand side at place j of the block at work, as it was given.
template <class T>
double unscaled(const Collected<T>& collected, std::size_t j, double norm) {
  return std::ldexp(norm, collected.scaling.exponents[collected.first + j]);
}

template <class T>
void copy_recursive_norms(const std::vector<Column>& columns, Collected<T>& collected) {
  for (std::size_t j = 0; j < columns.size(); ++j) {
    collected.result.recursive_residual_norms[collected.first + j] =
        unscaled(collected, j, columns[j].recursive_norm);
  }
}

/// Adds an iteration to the history and reports it; false where the solve is to end.
template <class T>
bool record_iteration(const Sides<T>& sides, LocalIndex directions, const Budget& budget,
                      Collected<T>& collected) {
  const std::vector<Column>& columns = sides.columns;
  BlockCgResult<T>& result = collected.result;
  ++result.total_iterations;
  copy_recursive_norms(columns, collected);
  const double seconds = budget.seconds();
  result.history.push_back({result.recursive_residual_norms, seconds, directions, sides.in_float});
  const auto& [observer, proceed, checkpoint] = collected.listeners;
  if (!observer && !proceed) return true;
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
  report.distance = report.worst;
  report.last_iteration = report.iteration + budget.left();
  if (observer) observer(report);
  return !proceed || proceed(report);
}

/// Adds a block of right-hand sides that is solved to the result.
template <class T>
void collect(const Sides<T>& sides, Collected<T>& collected) {
  BlockCgResult<T>& result = collected.result;
  for (std::size_t j = 0; j < sides.columns.size(); ++j) {
    const Column& column = sides.columns[j];
    const std::size_t side = collected.first + j;
    result.residual_norms[side] = unscaled(collected, j, column.true_norm);
    result.outcomes[side] = column.outcome;
    result.iterations[side] = column.iterations;
  }
  count_done(collected);
  copy_recursive_norms(sides.columns, collected);
  BlockCgFindings& findings = result.findings;
  if (findings.end == BlockCgEnd::solved) findings.end = sides.findings.end;
  findings.indefinite_matrix |= sides.findings.indefinite_matrix;
  findings.singular_matrix |= sides.findings.singular_matrix;
  findings.indefinite_preconditioner |= sides.findings.indefinite_preconditioner;
  // Blocks mostly fail for one reason, with other numbers.
  if (result.remark.find(sides.remark.substr(0, sides.remark.find(':'))) != std::string::npos) return;
  result.remark += (result.remark.empty() ? "" : "; ") + sides.remark;
}

/// The initial guess, norms of right-hand sides, and that nothing is solved yet. Collective; throws InputError on
/// all ranks where numbers are not finite.
template <class T>
void begin_result(BlockSpace<T>& space, const DenseBlock<T>& f, DenseBlock<T> initial, LocalIndex width,
                  Collected<T>& collected) {
  BlockCgResult<T>& result = collected.result;
  const bool zero_guess = initial.cols() == 0;
  result.solution = zero_guess ? space.make_block(f.cols()) : std::move(initial);
  if (zero_guess) space.kernels().fill(result.solution.view(), 0.0);
  collected.scaling = column_scaling<T>(space, f.view(), width);
  check_finite(space.comm(), collected.scaling, "right-hand side ");
  if (!zero_guess) {
    check_finite(space.comm(), column_scaling<T>(space, result.solution.view(), width), "initial guess ");
  }
  for (std::size_t j = 0; j < collected.scaling.exponents.size(); ++j) {
    result.rhs_norms.push_back(collected.scaling.norm(j));
  }
  result.recursive_residual_norms = result.residual_norms = result.rhs_norms;
  result.outcomes.assign(result.rhs_norms.size(), Outcome::not_converged);
  result.iterations.assign(result.rhs_norms.size(), 0);
}

/// Judges solutions that were scaled to the size that they are wanted in, which may have cost them bits or all.
template <class T>
void settle(BlockSpace<T>& space, BlockView<T> x, Sides<T>& sides, const BlockSolver<T>& solver) {
  solver.measure(sides);
  bool lost = false;
  for (std::size_t j = 0; j < sides.columns.size(); ++j) {
    Column& column = sides.columns[j];
    if (!std::isfinite(column.true_norm)) {
      space.kernels().fill(x.columns(static_cast<LocalIndex>(j), 1), 0.0);
      column.true_norm = column.rhs_norm;
      column.outcome = Outcome::not_converged;
    }
    lost |= column.outcome == Outcome::not_converged;
  }
  if (!lost || !sides.remark.empty()) return;
  sides.findings.end = BlockCgEnd::beyond_range;
  sides.remark = "a solution is beyond the range of the arithmetic";
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
    require(options.shares.empty() || static_cast<LocalIndex>(options.shares.size()) == f.cols(),
            "there is another number of shares of the tolerance than of right-hand sides");
    require(options.tolerance >= 0.0, "linear_solver.tolerance must not be negative");
    require(options.max_iterations >= 0, "linear_solver.max_iterations must not be negative");
  });
}

template <class T>
BlockCgResult<T> solve_in_blocks(BlockSpace<T>& space, const DenseBlock<T>& f, DenseBlock<T> initial,
                                 const BlockCgOptions& options, const Listeners& listeners,
                                 Budget::Clock::time_point began, const BlockSolver<T>& solver) {
  const LocalIndex width = std::min<LocalIndex>(options.block_size, f.cols());
  const bool zero_guess = initial.cols() == 0;
  Collected<T> collected{listeners};
  BlockCgResult<T>& result = collected.result;
  begin_result(space, f, std::move(initial), width, collected);
  BlockStorage<T> storage(space, collected.scaling, width);
  result.setup_seconds = Budget(0, began).seconds();
  bool stopped = false;
  BestIterates<T> best;  // its storage, from block to block
  Saving saving{listeners.checkpoint, [&](SavedState& state) { save_others(collected, state); }};
  const bool was_resumed = listeners.checkpoint != nullptr && listeners.checkpoint->saved() != nullptr;
  saving.resumes = was_resumed && resume_result(space, collected, began);
  for (const LocalIndex first : blocks_to_solve(collected, width, saving.resumes)) {
    const LocalIndex count = std::min(width, f.cols() - first);
    collected.first = static_cast<std::size_t>(first);
    Sides<T> sides = storage.take(f.columns(first, count), result.solution.columns(first, count), first);
    for (std::size_t j = 0; !options.shares.empty() && j < sides.columns.size(); ++j) {
      sides.columns[j].share = options.shares[collected.first + j];
    }
    const int spent = take_iterations(collected, sides);
    // A state holds the initial guess of its own run.
    sides.starts_at_zero = zero_guess && spent == 0 && !was_resumed;
    sides.best.x = std::move(best.x);
    sides.saving = &saving;
    Budget budget(options.max_iterations, began);
    budget.spend(spent);
    if (saving.resumes) {
      budget = Budget(options.max_iterations, began);
      budget.spend(static_cast<int>(listeners.checkpoint->saved()->number("spent")));
      resume_between_rounds(space, sides);
    }
    if (stopped) budget.end();
    solver.solve(sides, budget, [&](LocalIndex directions) {
      stopped |= !record_iteration(sides, directions, budget, collected) || space.to_end_early();
      if (stopped) budget.end();
      return true;
    });
    // Conjugate gradients lower the error in every step, not the residual: what they leave undone may be worse
    // than what there was at first.
    if (restore_best(space, sides)) solver.measure(sides);
    const int done_before = collected.done;
    solve_one_by_one<T>(space, sides, budget, solver, [&](const Sides<T>& one, std::size_t place, int done) {
      collected.first = static_cast<std::size_t>(first) + place;
      collected.done = done_before + done;
      stopped |= !record_iteration(one, 1, budget, collected) || space.to_end_early();
      return !stopped;
    });
    collected.first = static_cast<std::size_t>(first);
    best = std::move(sides.best);
    const BlockView<T> x = result.solution.columns(first, count);
    if (storage.give_back(sides, x, first)) settle(space, x, sides, solver);
    collect(sides, collected);
    saving.resumes = false;
  }
  save_end(collected, Budget(0, began));
  result.solve_seconds = Budget(0, began).seconds() - result.setup_seconds;
  return std::move(result);
}

template void check_arguments(BlockSpace<float>&, const DenseBlock<float>&, const DenseBlock<float>&,
                              const BlockCgOptions&);
template void check_arguments(BlockSpace<double>&, const DenseBlock<double>&, const DenseBlock<double>&,
                              const BlockCgOptions&);
template BlockCgResult<float> solve_in_blocks(BlockSpace<float>&, const DenseBlock<float>&, DenseBlock<float>,
                                              const BlockCgOptions&, const Listeners&, Budget::Clock::time_point,
                                              const BlockSolver<float>&);
template BlockCgResult<double> solve_in_blocks(BlockSpace<double>&, const DenseBlock<double>&, DenseBlock<double>,
                                               const BlockCgOptions&, const Listeners&, Budget::Clock::time_point,
                                               const BlockSolver<double>&);

}  // namespace block_eigs::bcgrq
