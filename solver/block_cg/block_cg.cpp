#include "solver/block_cg/block_cg.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "solver/block_cg/block_cg_run.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

/// Takes the right-hand sides block by block through a BlockCgRun and keeps the books of all of them.
template <class T>
class BlockCgTurns {
 public:
  BlockCgTurns(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* preconditioner,
               const DenseBlock<T>& f, DenseBlock<T> initial, const BlockCgOptions& options,
               const Observer& observer)
      : space_(space),
        f_(f),
        observer_(observer),
        zero_guess_(initial.cols() == 0),
        width_(std::min(options.block_size, f.cols())),
        run_(space, a, preconditioner, options, width_, [this](int columns) { record(columns); }) {
    result_.solution = zero_guess_ ? space.make_block(f.cols()) : std::move(initial);
    if (zero_guess_) space.kernels().fill(result_.solution.view(), 0.0);
    if (f.cols() > width_) turn_ = space.make_block(width_);
    result_.rhs_norms = space.column_norms(f.view());
    check_finite(result_.rhs_norms, "right-hand side ");
    if (!zero_guess_) check_finite(space.column_norms(result_.solution.view()), "initial guess ");
    result_.recursive_residual_norms = result_.rhs_norms;
    result_.setup_seconds = elapsed();
  }

  BlockCgResult<T> solve() {
    for (first_ = 0; first_ < f_.cols(); first_ += width_) solve_block(std::min(width_, f_.cols() - first_));
    result_.solve_seconds = elapsed() - result_.setup_seconds;
    return std::move(result_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  void check_finite(const std::vector<double>& norms, const std::string& what) {
    space_.comm().collectively([&] {
      for (std::size_t j = 0; j < norms.size(); ++j) {
        require(std::isfinite(norms[j]), what + std::to_string(j + 1) + " of " + std::to_string(norms.size()) +
                                             " holds values that are not finite, or too large to square");
      }
    });
  }
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

  void solve_block(LocalIndex count) {
    columns_.assign(static_cast<std::size_t>(count), {});
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      columns_[j].rhs_norm = result_.rhs_norms[static_cast<std::size_t>(first_) + j];
    }
    const BlockView<T> place = result_.solution.view().columns(first_, count);
    // In contiguous rows where the block is a part of many right-hand sides.
    const bool apart = turn_.cols() > 0;
    const BlockView<T> x = apart ? turn_.view().columns(0, count) : place;
    if (apart) space_.copy(place, x);
    run_.solve(f_.view().columns(first_, count), x, zero_guess_, columns_);
    if (apart) space_.copy(x, place);
    for (const BlockCgColumn& column : columns_) {
      result_.residual_norms.push_back(column.true_norm);
      result_.outcomes.push_back(column.outcome);
      result_.iterations.push_back(column.iterations);
      if (column.outcome != Outcome::not_converged) ++done_;
    }
    copy_recursive_norms();
    const std::string& trouble = run_.trouble();
    if (result_.remark.find(trouble) == std::string::npos) {
      result_.remark += (result_.remark.empty() ? "" : "; ") + trouble;
    }
  }

  void copy_recursive_norms() {
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      result_.recursive_residual_norms[static_cast<std::size_t>(first_) + j] = columns_[j].recursive_norm;
    }
  }

  void record(int active_columns) {
    ++result_.total_iterations;
    copy_recursive_norms();
    result_.history.push_back({result_.recursive_residual_norms, elapsed(), active_columns});
    if (!observer_) return;
    int converged = done_;
    double worst = 0.0;
    for (const BlockCgColumn& column : columns_) {
      if (!column.active) ++converged;
      const double unit = column.limit > 0.0 ? column.limit : column.rhs_norm;
      if (unit > 0.0) worst = std::max(worst, column.recursive_norm / unit);
    }
    observer_({result_.total_iterations,
               f_.cols(),
               converged,
               active_columns,
               worst,
               result_.history.back().seconds,
               {},
               result_.history.back().residual_norms});
  }

  Clock::time_point began_ = Clock::now();
  BlockSpace<T>& space_;
  const DenseBlock<T>& f_;
  const Observer& observer_;
  bool zero_guess_;
  LocalIndex width_;
  BlockCgRun<T> run_;
  DenseBlock<T> turn_;
  std::vector<BlockCgColumn> columns_;
  LocalIndex first_ = 0;
  int done_ = 0;
  BlockCgResult<T> result_;
};

}  // namespace

template <class T>
BlockCgResult<T> block_cg(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* preconditioner,
                          const DenseBlock<T>& f, DenseBlock<T> initial, const BlockCgOptions& options,
                          const Observer& observer) {
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
  return BlockCgTurns<T>(space, a, preconditioner, f, std::move(initial), options, observer).solve();
}

template BlockCgResult<float> block_cg(BlockSpace<float>&, LinearOperator<float>&, LinearOperator<float>*,
                                       const DenseBlock<float>&, DenseBlock<float>, const BlockCgOptions&,
                                       const Observer&);
template BlockCgResult<double> block_cg(BlockSpace<double>&, LinearOperator<double>&, LinearOperator<double>*,
                                        const DenseBlock<double>&, DenseBlock<double>, const BlockCgOptions&,
                                        const Observer&);

}  // namespace block_eigs
