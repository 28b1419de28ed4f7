#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "solver/lobpcg/lobpcg_run.hpp"

namespace block_eigs {

namespace {
/// How often the final check may send pairs back to work.
constexpr int most_rounds = 4;

/// Pairs at hand: fewer than asked for where a window of columns did not get to the others.
int found(const LobpcgOptions& options, const RitzPairs& ritz) {
  return std::min(options.pairs, static_cast<int>(ritz.values.size()));
}

}  // namespace

/// Locked and active vectors side by side behind the constraints.
template <class T>
void LobpcgRun<T>::gather_basis() {
  const LocalIndex first = state_.kept_columns();
  space_.copy(state_.x.view(), state_.kept_storage(first, active()));
  if (b_ != nullptr) space_.copy(state_.bx(), state_.b_kept_storage(first, active()));
  state_.set_kept_columns(first + active());
}

/// Rayleigh quotients and residuals of everything kept behind the constraints, A x computed anew, as many columns
/// at a time as the panels hold; in the order of the eigenvalues asked for. Uses the storage of ax and r.
template <class T>
void LobpcgRun<T>::verify() {
  const LocalIndex total = state_.kept_columns() - constraints_;
  RitzPairs all;
  for (LocalIndex first = 0; first < total; first += width_) {
    const LocalIndex count = std::min(width_, total - first);
    const ConstBlockView<T> x = state_.kept().columns(constraints_ + first, count);
    const BlockView<T> bx = state_.b_kept_storage(constraints_ + first, count);
    if (b_ != nullptr) b_->apply(x, bx);
    state_.ax.set_columns(count);
    a_.apply(x, state_.ax.view());
    std::vector<double> values = space_.column_dots(x, state_.ax.view());
    const std::vector<double> squared = space_.column_dots(x, bx);
    for (std::size_t j = 0; j < values.size(); ++j) values[j] /= squared[j];
    state_.r.set_columns(count);
    all.append(values, space_.residual(state_.ax.view(), bx, values, state_.r.view()),
               b_ != nullptr ? space_.column_norms(bx) : std::vector<double>(values.size(), 1.0),
               b_ != nullptr ? space_.column_norms(x) : std::vector<double>(values.size(), 1.0));
  }
  order_.resize(all.values.size());
  std::iota(order_.begin(), order_.end(), 0);
  const double sign = options_.which == Which::largest ? -1.0 : 1.0;
  std::stable_sort(order_.begin(), order_.end(), [&](int i, int j) {
    return sign * all.values[static_cast<std::size_t>(i)] < sign * all.values[static_cast<std::size_t>(j)];
  });
  ritz_ = all.in_order(order_);
  since_refresh_ = 0;
}

/// The final check. Returns true when the run is over; else the pairs that failed are back at work.
template <class T>
bool LobpcgRun<T>::conclude() {
  gather_basis();
  verify();
  std::vector<int> failed;
  for (int j = 0; j < found(options_, ritz_); ++j) {
    if (judge(j) == Outcome::not_converged) failed.push_back(j);
  }
  const bool out_of_iterations = result_.iterations >= options_.max_iterations;
  const bool done = failed.empty() && found(options_, ritz_) == options_.pairs;
  if (done || exhausted_ || out_of_iterations || ++rounds_ >= most_rounds) {
    if (!done) {
      result_.remark = exhausted_ ? "the search space is exhausted: no new direction is left in this precision"
                       : out_of_iterations
                           ? "max_iterations = " + std::to_string(options_.max_iterations) + " reached"
                           : "the true residuals stay above those of the recursion: the tolerance is "
                             "near the limit of this precision";
    }
    finish();
    return true;
  }
  reopen(failed);
  return false;
}

/// Takes the failed pairs and the guard vectors out of what is kept and starts again with these.
template <class T>
void LobpcgRun<T>::reopen(std::vector<int> failed) {
  for (int j = options_.pairs; j < static_cast<int>(order_.size()); ++j) failed.push_back(j);
  failed.resize(std::min<std::size_t>(failed.size(), static_cast<std::size_t>(width_)));
  std::vector<bool> taken(order_.size(), false);
  state_.set_x_columns(static_cast<LocalIndex>(failed.size()));
  LocalIndex to = 0;
  for (const int j : failed) {
    const int column = order_[static_cast<std::size_t>(j)];
    taken[static_cast<std::size_t>(column)] = true;
    space_.copy(state_.kept().columns(constraints_ + column, 1), state_.x.view().columns(to, 1));
    if (b_ != nullptr) space_.copy(state_.b_kept().columns(constraints_ + column, 1), state_.bx().columns(to, 1));
    ++to;
  }
  LocalIndex kept = constraints_;
  locked_ = {};
  std::vector<std::pair<double, double>> staying(order_.size());
  for (std::size_t j = 0; j < order_.size(); ++j) {
    staying[static_cast<std::size_t>(order_[j])] = {ritz_.values[j], ritz_.residuals[j]};
  }
  for (LocalIndex column = 0; column < static_cast<LocalIndex>(taken.size()); ++column) {
    if (taken[static_cast<std::size_t>(column)]) continue;
    if (kept != constraints_ + column) {
      space_.copy(state_.kept().columns(constraints_ + column, 1), state_.kept_storage(kept, 1));
      if (b_ != nullptr) {
        space_.copy(state_.b_kept().columns(constraints_ + column, 1), state_.b_kept_storage(kept, 1));
      }
    }
    locked_.values.push_back(staying[static_cast<std::size_t>(column)].first);
    locked_.residuals.push_back(staying[static_cast<std::size_t>(column)].second);
    ++kept;
  }
  state_.set_kept_columns(kept);
  start();
}

template <class T>
void LobpcgRun<T>::finish() {
  const int pairs = found(options_, ritz_);
  result_.eigenvalues.assign(ritz_.values.begin(), ritz_.values.begin() + pairs);
  result_.residual_norms.assign(ritz_.residuals.begin(), ritz_.residuals.begin() + pairs);
  for (int j = 0; j < pairs; ++j) result_.outcomes.push_back(judge(j));
  result_.error_bounds = b_ == nullptr ? result_.residual_norms
                                       : std::vector<double>(static_cast<std::size_t>(pairs),
                                                             std::numeric_limits<double>::quiet_NaN());
  result_.eigenvectors = space_.make_block(pairs);
  // Neighbours together: a copy of one column moves whole cache lines.
  const auto end = order_.begin() + pairs;
  for (auto at = order_.begin(); at != end;) {
    auto next = at + 1;
    while (next != end && *next == *at + (next - at)) ++next;
    const auto count = static_cast<LocalIndex>(next - at);
    space_.copy(state_.kept().columns(constraints_ + *at, count),
                result_.eigenvectors.view().columns(static_cast<LocalIndex>(at - order_.begin()), count));
    at = next;
  }
}

template class LobpcgRun<float>;
template class LobpcgRun<double>;

}  // namespace block_eigs
