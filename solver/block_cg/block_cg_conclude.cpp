#include <algorithm>
#include <cmath>
#include <limits>

#include "solver/block_cg/block_cg_run.hpp"

namespace block_eigs {

namespace {
/// A further round is worth it when the one before brought a residual down by this factor.
constexpr double progress = 0.5;
/// The recurrence has parted from the truth when the true residual is this much larger.
constexpr double parted = 2.0;
}  // namespace

/// F - A X into r, which may be the storage of A X.
template <class T>
void BlockCgRun<T>::residual_into(BlockView<T> r) {
  const std::vector<double> ones(static_cast<std::size_t>(sides()), 1.0);
  as_.set_columns(sides());
  a_.apply(x_, as_.view());
  const std::vector<double> norms = space_.residual(f_, as_.view(), ones, r);
  for (std::size_t j = 0; j < norms.size(); ++j) columns()[j].true_norm = norms[j];
  measure_solutions();
}

template <class T>
void BlockCgRun<T>::measure_solutions() {
  const std::vector<double> lengths = space_.column_norms(x_);
  for (std::size_t j = 0; j < lengths.size(); ++j) columns()[j].solution_norm = lengths[j];
}

/// Whether rounding errors have taken some recurrence away from the truth. Right-hand sides for which that
/// happened where the arithmetic allows no better are done.
template <class T>
bool BlockCgRun<T>::parted_from_truth() {
  measure_solutions();
  bool rounding_matters = false;
  for (const BlockCgColumn& column : columns()) {
    rounding_matters |= column.active && column.limit < 100.0 * accuracy_limit(column);
  }
  if (!rounding_matters) return false;
  as_.set_columns(sides());
  residual_into(as_.view());
  bool restart = false;
  for (BlockCgColumn& column : columns()) {
    if (!column.active || column.true_norm <= parted * column.recursive_norm) continue;
    if (column.true_norm > accuracy_limit(column)) restart = true;
    column.active = column.true_norm > accuracy_limit(column);
  }
  std::vector<bool> active;
  for (const BlockCgColumn& column : columns()) active.push_back(column.active);
  recurrence_.set_active(std::move(active));
  return restart;
}

template <class T>
void BlockCgRun<T>::measure_truth() {
  q_.set_columns(sides());
  residual_into(q_.view());
}

/// The end of a round: true residuals. Returns true when nothing is left to do, or nothing can be done.
template <class T>
bool BlockCgRun<T>::conclude() {
  const bool untouched = best_is_zero_ && rounds_ == 1 && iterations_ == 0;
  if (!untouched) measure_truth();
  for (BlockCgColumn& column : columns()) {
    column.active = !column.unsolvable && judge(column) == Outcome::not_converged;
  }
  give_up_what_grows();
  const bool failed = any_active();
  bool improved = shed_;
  for (const BlockCgColumn& column : columns()) {
    improved |= column.active && column.true_norm < progress * column.best_norm;
  }
  const bool exhausted = iterations_ >= options_.max_iterations;
  const bool again = failed && improved && !exhausted && !hopeless_;
  if (again) keep_best();
  // Conjugate gradients lower the error, not the residual, in every step: an iterate that was merely stopped
  // stays.
  const bool doubtful = rounds_ > 1 || hopeless_ || !trouble_.empty();
  if (doubtful && restore_best()) measure_truth();
  if (again) return false;
  for (BlockCgColumn& column : columns()) column.outcome = judge(column);
  if (failed && !hopeless_) {
    explain(exhausted
                ? "max_iterations = " + std::to_string(options_.max_iterations) + " reached"
                : "the true residuals stay above those of the recurrence: the tolerance is beyond this precision");
  }
  return true;
}

/// Adds to what keeps right-hand sides from being solved.
template <class T>
void BlockCgRun<T>::explain(const std::string& trouble) {
  trouble_ += (trouble_.empty() ? "" : "; ") + trouble;
}

/// Takes note of the iterates that are better than those noted before.
template <class T>
void BlockCgRun<T>::keep_best() {
  if (best_.cols() == 0) best_ = space_.make_block(width_);
  if (best_is_zero_) space_.kernels().fill(best_.view(), 0.0);
  best_is_zero_ = false;
  for (LocalIndex j = 0; j < sides(); ++j) {
    BlockCgColumn& column = columns()[static_cast<std::size_t>(j)];
    if (!(column.true_norm <= column.best_norm)) continue;
    space_.copy(x_.columns(j, 1), best_.columns(j, 1));
    column.best_norm = column.true_norm;
  }
}

/// Puts the best iterates back where the present ones are worse. Returns whether there were any.
template <class T>
bool BlockCgRun<T>::restore_best() {
  bool restored = false;
  for (LocalIndex j = 0; j < sides(); ++j) {
    const BlockCgColumn& column = columns()[static_cast<std::size_t>(j)];
    if (column.true_norm <= column.best_norm) continue;
    if (best_is_zero_) {
      space_.kernels().fill(x_.columns(j, 1), 0.0);
    } else {
      space_.copy(best_.columns(j, 1), x_.columns(j, 1));
    }
    restored = true;
  }
  return restored;
}

template <class T>
LinearResidualTest BlockCgRun<T>::test() const {
  return {options_.tolerance, norm_a_, std::numeric_limits<T>::epsilon()};
}

template <class T>
double BlockCgRun<T>::accuracy_limit(const BlockCgColumn& column) const {
  return test().accuracy_limit(column.rhs_norm, column.solution_norm);
}

template <class T>
bool BlockCgRun<T>::beyond_reach(const BlockCgColumn& column) const {
  return test().beyond_reach(column.rhs_norm, column.solution_norm);
}

template <class T>
Outcome BlockCgRun<T>::judge(const BlockCgColumn& column) const {
  const Outcome outcome = test().judge(column.true_norm, column.rhs_norm, column.solution_norm);
  const bool doubtful = column.unsolvable && outcome == Outcome::at_accuracy_limit;
  return doubtful ? Outcome::not_converged : outcome;
}

template <class T>
bool BlockCgRun<T>::any_active() const {
  return std::any_of(columns_->begin(), columns_->end(),
                     [](const BlockCgColumn& column) { return column.active; });
}

template class BlockCgRun<float>;
template class BlockCgRun<double>;

}  // namespace block_eigs
