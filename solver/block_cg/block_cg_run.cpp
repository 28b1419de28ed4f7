#include "solver/block_cg/block_cg_run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace block_eigs {

namespace {

/// Iterations between two looks at p^T A p / p^T p, which take one more block of memory traffic.
constexpr int curvature_period = 16;
/// Iterations between two comparisons with the true residual, where rounding errors matter.
constexpr int truth_period = 50;
/// The recurrence aims a little below the limit, so that the true residual is not above it by rounding.
constexpr double aim = 0.999;

bool all_finite(const SmallMatrix& matrix) {
  return std::all_of(matrix.values().begin(), matrix.values().end(), [](double v) { return std::isfinite(v); });
}

/// Norms, and which right-hand sides are at work.
SmallMatrix summary(const BlockCgRecurrence& recurrence) {
  SmallMatrix result(2, static_cast<int>(recurrence.norms().size()));
  for (int j = 0; j < result.cols(); ++j) {
    result(0, j) = recurrence.norms()[static_cast<std::size_t>(j)];
    result(1, j) = recurrence.active()[static_cast<std::size_t>(j)] ? 1.0 : 0.0;
  }
  return result;
}

}  // namespace

template <class T>
BlockCgRun<T>::BlockCgRun(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* preconditioner,
                          const BlockCgOptions& options, LocalIndex width, std::function<void(int)> iterated)
    : space_(space),
      a_(a),
      preconditioner_(preconditioner),
      options_(options),
      width_(width),
      iterated_(std::move(iterated)),
      norm_a_(a.norm_inf()),
      norm_known_(!std::isnan(a.norm_inf())),
      recurrence_(std::numeric_limits<T>::epsilon()),
      q_(space, width),
      z_(space, preconditioner != nullptr ? width : 0),
      s_(space, width),
      as_(space, width) {
  if (!norm_known_) norm_a_ = 0.0;
}

template <class T>
void BlockCgRun<T>::solve(ConstBlockView<T> f, BlockView<T> x, bool zero_guess,
                          std::vector<BlockCgColumn>& columns) {
  f_ = f;
  x_ = x;
  columns_ = &columns;
  iterations_ = 0;
  rounds_ = 0;
  hopeless_ = false;
  trouble_.clear();
  best_is_zero_ = zero_guess;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    columns[j].limit = test().limit(columns[j].rhs_norm);
    if (columns[j].rhs_norm == 0.0) space_.kernels().fill(x_.columns(static_cast<LocalIndex>(j), 1), 0.0);
  }
  if (zero_guess) {
    q_.set_columns(sides());
    space_.copy(f_, q_.view());
    for (BlockCgColumn& column : columns) column.true_norm = column.rhs_norm;
  } else {
    measure_truth();
  }
  for (BlockCgColumn& column : columns) {
    column.best_norm = column.recursive_norm = column.true_norm;
    column.active = column.true_norm > column.limit;
  }
  if (!zero_guess) keep_best();
  do {
    start();
    while (any_active() && !broken_ && iterations_ < options_.max_iterations) iterate();
  } while (!conclude());
}

/// A round begins: Q' = R, whatever its columns; S = Q in the inner product of M^-1.
template <class T>
void BlockCgRun<T>::start() {
  broken_ = false;
  shed_ = false;
  since_start_ = 0;
  ++rounds_;
  if (!any_active()) return;
  std::vector<double> limits, floors;
  std::vector<bool> active;
  for (const BlockCgColumn& column : columns()) {
    limits.push_back(aim * column.limit);
    floors.push_back(0.01 * std::numeric_limits<T>::epsilon() * column.rhs_norm);
    active.push_back(column.active);
  }
  recurrence_.restart(std::move(limits), std::move(floors), std::move(active));
  s_.set_columns(0);
  apply_preconditioner();
  factorise();
}

/// A S -> Q' <- Q' T - A S Xi -> Z' = M^-1 Q' -> Q'^T Z' -> X, S.
template <class T>
void BlockCgRun<T>::iterate() {
  const LocalIndex directions = s_.cols();
  if (directions == 0) {
    broken_ = true;
    return;
  }
  as_.set_columns(directions);
  a_.apply(s_.view(), as_.view());
  if (!take_step()) return;
  space_.update({q_.view(), as_.view()}, residual_update_, {q_.view().columns(0, directions)});
  q_.narrow(0, directions);
  q_.compact(space_, directions, as_);
  apply_preconditioner();
  factorise();
  ++iterations_;
  ++since_start_;
  iterated_(directions);
  if (since_start_ % truth_period == 0 && any_active() && parted_from_truth()) broken_ = true;
}

/// Xi from S^T A S. False where that is not positive definite; the round is over then.
template <class T>
bool BlockCgRun<T>::take_step() {
  const bool look = since_start_ % curvature_period == 0;
  SmallMatrix products;
  space_.gram({s_.view()}, look ? ConstBlockList<T>{as_.view(), s_.view()} : ConstBlockList<T>{as_.view()},
              products);
  if (!all_finite(products)) {
    give_up_on_all("the numbers grew beyond the range of the arithmetic");
    return false;
  }
  if (look && !examine(products)) return false;
  if (look && since_start_ > 0) {
    measure_solutions();
    give_up_what_grows();
    if (broken_) return false;
  }
  space_.on_root([&] { residual_update_ = recurrence_.residual_update(products); }, {&residual_update_});
  if (residual_update_.cols() > 0) return true;
  broken_ = true;
  if (look) return false;
  space_.gram({s_.view()}, {as_.view(), s_.view()}, products);
  examine(products);
  return false;
}

template <class T>
void BlockCgRun<T>::apply_preconditioner() {
  if (preconditioner_ == nullptr) return;
  const Profile::Scope scope(space_.profile(), Phase::preconditioner);
  z_.set_columns(q_.cols());
  preconditioner_->apply(q_.view(), z_.view());
}

/// Norms of the residuals, and Q = Q' T with orthonormal columns; then X and S.
template <class T>
void BlockCgRun<T>::factorise() {
  SmallMatrix products, norms, rebasing, update;
  do {
    if (preconditioner_ != nullptr) {
      space_.gram({q_.view()}, {z_.view(), q_.view()}, products);
    } else {
      space_.gram({q_.view()}, {q_.view()}, products);
    }
    space_.on_root(
        [&] {
          const bool done = recurrence_.factorise(products);
          rebasing = done ? SmallMatrix() : recurrence_.rebasing();
          norms = SmallMatrix();
          if (!recurrence_.finite()) return;
          if (done) {
            recurrence_.narrow();
            update = recurrence_.direction_update();
          }
          norms = summary(recurrence_);
        },
        {&norms, &rebasing, &update});
    if (rebasing.cols() > 0) {
      space_.update({q_.view()}, rebasing, {q_.view().columns(0, rebasing.cols())});
      q_.narrow(0, rebasing.cols());
      apply_preconditioner();
    }
  } while (rebasing.cols() > 0);
  if (norms.cols() == 0) {
    give_up_on_all("the numbers grew beyond the range of the arithmetic");
    return;
  }
  adopt(norms);
  update_directions(update);
}

template <class T>
void BlockCgRun<T>::adopt(const SmallMatrix& norms) {
  for (int j = 0; j < norms.cols(); ++j) {
    BlockCgColumn& column = columns()[static_cast<std::size_t>(j)];
    if (!column.active) continue;
    if (s_.cols() > 0) ++column.iterations;
    column.recursive_norm = norms(0, j);
    column.active = norms(1, j) != 0.0;
  }
}

/// X <- X + S Xi C and S <- Q + S zeta^T in one pass; S = Q at the start of a round.
template <class T>
void BlockCgRun<T>::update_directions(const SmallMatrix& update) {
  if (s_.cols() == 0) {
    s_.set_columns(update.cols());
    space_.update({z()}, update, {s_.view()});
    return;
  }
  const LocalIndex directions = update.cols() - sides();
  space_.update({x_, s_.view(), z()}, update, {x_, s_.view().columns(0, directions)});
  s_.narrow(0, directions);
  s_.compact(space_, directions, as_);
}

template class BlockCgRun<float>;
template class BlockCgRun<double>;

}  // namespace block_eigs
