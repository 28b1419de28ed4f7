#include "solver/lobpcg/lobpcg_run.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace block_eigs {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Iterations between two refreshes of A X and A P, where rounding errors matter at all: two blocks in forty
/// keep the extra products at 5%.
constexpr int refresh_period = 40;

}  // namespace

template <class T>
EigenResult<T> LobpcgRun<T>::run(const DenseBlock<T>* constraints, DenseBlock<T> initial) {
  begin(constraints, std::move(initial));
  return iterate_and_conclude();
}

template <class T>
EigenResult<T> LobpcgRun<T>::iterate_and_conclude() {
  result_.setup_seconds = elapsed();
  do {
    iterate();
  } while (!conclude());
  result_.solve_seconds = elapsed() - result_.setup_seconds;
  return std::move(result_);
}

template <class T>
void LobpcgRun<T>::iterate() {
  exhausted_ = false;
  for (;;) {
    const int done = leading_done();
    if (done >= remaining() || result_.iterations >= options_.max_iterations) return;
    lock(done);
    const int refill = std::min(width_, remaining() + guard_) - active();
    state_.lock(0, active() + refill);
    expand(refill);
    const int columns = state_.w.cols();
    if (!rayleigh_ritz(active() + refill)) {
      exhausted_ = true;
      return;
    }
    ++result_.iterations;
    if (!draft_ && ++since_refresh_ >= refresh_period && active() > 0 &&
        test_.rounding_matters(ritz_.values.front(), ritz_.image_norms.front(), ritz_.norms.front())) {
      refresh();
    }
    record(columns);
    if (draft_ && stalled()) return;
  }
}

template <class T>
void LobpcgRun<T>::lock(int count) {
  if (count == 0) return;
  locked_.values.insert(locked_.values.end(), ritz_.values.begin(), ritz_.values.begin() + count);
  locked_.residuals.insert(locked_.residuals.end(), ritz_.residuals.begin(), ritz_.residuals.begin() + count);
  state_.lock(count, active() - count);
  ritz_.drop_leading(count);
}

template <class T>
void LobpcgRun<T>::record(int columns) {
  const auto pairs = static_cast<std::size_t>(options_.pairs);
  LobpcgIteration entry{locked_.values, locked_.residuals, elapsed(), columns};
  const auto open = std::min<std::size_t>(ritz_.values.size(), pairs - entry.eigenvalues.size());
  entry.eigenvalues.insert(entry.eigenvalues.end(), ritz_.values.begin(),
                           ritz_.values.begin() + static_cast<int>(open));
  entry.residual_norms.insert(entry.residual_norms.end(), ritz_.residuals.begin(),
                              ritz_.residuals.begin() + static_cast<int>(open));
  entry.eigenvalues.resize(pairs, nan);
  entry.residual_norms.resize(pairs, nan);
  int converged = locked();
  for (int j = 0; j < static_cast<int>(open); ++j) {
    if (judge(j) != Outcome::not_converged) ++converged;
  }
  result_.history.push_back(std::move(entry));
  if (!observer_) return;
  const LobpcgIteration& last = result_.history.back();
  observer_({result_.iterations, options_.pairs, draft_ ? 0 : converged, columns, worst_ratio(), last.seconds,
             last.eigenvalues, last.residual_norms});
}

template <class T>
void LobpcgRun<T>::measure_norms() {
  ritz_.norms.assign(ritz_.values.size(), 1.0);
  ritz_.image_norms = ritz_.norms;
  if (b_ != nullptr) {
    ritz_.norms = space_.column_norms(state_.x.view());
    ritz_.image_norms = space_.column_norms(state_.bx());
  }
  if (draft_) return;
  for (std::size_t i = 0; i < ritz_.values.size(); ++i) {
    near_rounding_ = near_rounding_ || test_.near_rounding(ritz_.values[i], ritz_.residuals[i],
                                                           ritz_.image_norms[i], ritz_.norms[i]);
  }
}

/// A X and A P anew, so that rounding errors of the updates do not add up.
template <class T>
void LobpcgRun<T>::refresh() {
  a_.apply(state_.x.view(), state_.ax.view());
  if (state_.p.cols() > 0) a_.apply(state_.p.view(), state_.ap.view());
  ritz_.residuals = space_.residual(state_.ax.view(), state_.bx(), ritz_.values, state_.r.view());
  since_refresh_ = 0;
}

template <class T>
Outcome LobpcgRun<T>::judge(int j) const {
  const auto i = static_cast<std::size_t>(j);
  return test_.judge(ritz_.values[i], ritz_.residuals[i], ritz_.image_norms[i], ritz_.norms[i]);
}

template <class T>
double LobpcgRun<T>::ratio(int j) const {
  const auto i = static_cast<std::size_t>(j);
  return test_.ratio(ritz_.values[i], ritz_.residuals[i], ritz_.image_norms[i], ritz_.norms[i]);
}

/// Of the wanted pairs at work.
template <class T>
double LobpcgRun<T>::worst_ratio() const {
  double worst = 0.0;
  for (int j = 0; j < std::min(active(), remaining()); ++j) worst = std::max(worst, ratio(j));
  return worst;
}

template <class T>
int LobpcgRun<T>::leading_done() const {
  int count = 0;
  while (count < std::min(active(), remaining()) && judge(count) != Outcome::not_converged) ++count;
  return count;
}

template class LobpcgRun<float>;
template class LobpcgRun<double>;

}  // namespace block_eigs
