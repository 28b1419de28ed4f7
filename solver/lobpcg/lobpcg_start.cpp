#include <algorithm>
#include <cmath>
#include <limits>

#include "solver/lobpcg/lobpcg_run.hpp"
#include "solver/space/orthonormalize.hpp"
#include "spmm/error.hpp"

// Constraints, start vectors, and the first Rayleigh-Ritz step.
namespace block_eigs {

template <class T>
void LobpcgRun<T>::take_constraints(const DenseBlock<T>& constraints) {
  const BlockView<T> c = state_.kept_storage(0, constraints.cols());
  const BlockView<T> bc = state_.b_kept_storage(0, constraints.cols());
  space_.copy(constraints.view(), c);
  if (b_ != nullptr) b_->apply(c, bc);
  const LocalIndex kept = orthonormalize<T>(space_, {}, c, bc, {}, Orthonormality::to_rounding);
  state_.set_kept_columns(kept);
  constraints_ = kept;
}

/// The first Ritz vectors.
template <class T>
void LobpcgRun<T>::begin(const DenseBlock<T>* constraints, DenseBlock<T> initial) {
  if (constraints != nullptr) take_constraints(*constraints);
  fill_start_block(initial);
  initial = {};
  start();
  filter_start_block();
}

/// Start vectors as given, random ones behind them.
template <class T>
void LobpcgRun<T>::fill_start_block(const DenseBlock<T>& initial) {
  state_.set_x_columns(width_);
  const BlockView<T> x = state_.x.view();
  const LocalIndex given = std::min(initial.cols(), width_);
  if (given > 0) space_.copy(initial.columns(0, given), x.columns(0, given));
  space_.fill_random(x.columns(given, width_ - given), options_.seed);
  orthonormalize_start_block(0);
}

/// Makes the columns of X from `good` on orthonormal, to those before them too; dependent ones are replaced by
/// random ones.
template <class T>
void LobpcgRun<T>::orthonormalize_start_block(LocalIndex good) {
  constexpr std::uint64_t most_attempts = 5;
  const BlockView<T> x = state_.x.view();
  for (std::uint64_t attempt = 1; good < x.cols; ++attempt) {
    const BlockView<T> fresh = x.columns(good, x.cols - good);
    const BlockView<T> b_fresh = state_.bx().columns(good, x.cols - good);
    if (b_ != nullptr) b_->apply(fresh, b_fresh);
    good += orthonormalize<T>(space_, {state_.kept(), x.columns(0, good)}, fresh, b_fresh,
                              {state_.b_kept(), ConstBlockView<T>(state_.bx()).columns(0, good)},
                              Orthonormality::to_rounding);
    space_.comm().collectively([&] {
      if (attempt > most_attempts)
        throw RunError("lobpcg: no independent start vectors left outside the constraints");
    });
    if (good < x.cols) space_.fill_random(x.columns(good, x.cols - good), options_.seed + attempt);
  }
}

/// A step on [X P] with given P, so that the iteration keeps its momentum.
template <class T>
void LobpcgRun<T>::take_directions(const DenseBlock<T>& directions) {
  if (directions.cols() == 0) return;
  state_.lock(0, active());
  state_.set_w_columns(directions.cols());
  const BlockView<T> w = state_.w.view();
  space_.copy(directions.view(), w);
  if (b_ != nullptr) b_->apply(w, state_.bw());
  a_.apply(w, state_.aw.view());
  rayleigh_ritz(active());
}

/// Rayleigh-Ritz on the start block.
template <class T>
void LobpcgRun<T>::start() {
  a_.apply(state_.x.view(), state_.ax.view());
  SmallMatrix gram;
  space_.gram({state_.x.view()}, {state_.ax.view()}, gram);
  state_.drop_p();
  state_.set_w_columns(0);
  double norm_a = a_.norm_inf();
  double norm_b = b_ != nullptr ? b_->norm_inf() : 1.0;
  if (std::isnan(norm_a)) {
    norm_a = 0.0;
    for (int j = 0; j < gram.cols(); ++j) norm_a = std::max(norm_a, std::abs(gram(j, j)));
  }
  if (std::isnan(norm_b)) norm_b = 1.0;
  const double epsilon = (draft_ ? draft_accuracy : 1.0) * std::numeric_limits<T>::epsilon();
  test_ = ResidualTest(options_, norm_a, norm_b, epsilon);
  apply_ritz(solve_ritz_on_root<T>(space_, [&] {
    return RitzProblem{gram, SmallMatrix::identity(gram.rows()), 0, gram.rows(),
                       0.0,  options_.which == Which::largest};
  }));
}

template class LobpcgRun<float>;
template class LobpcgRun<double>;

}  // namespace block_eigs
