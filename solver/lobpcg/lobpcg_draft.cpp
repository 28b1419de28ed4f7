#include <utility>

#include "solver/lobpcg/lobpcg_run.hpp"

namespace block_eigs {

namespace {

/// A draft ends when so many iterations together have not brought the worst residual down by a tenth: what is left
/// is rounding errors, or slow enough to be done in the other precision.
constexpr int patience = 20;
constexpr double progress = 0.9;
/// Or when it has grown so much: rounding errors feed on themselves.
constexpr double harm = 10.0;

}  // namespace

template <class T>
EigenResult<T> LobpcgRun<T>::draft(const DenseBlock<T>* constraints, DenseBlock<T> initial) {
  draft_ = true;
  begin(constraints, std::move(initial));
  result_.setup_seconds = elapsed();
  iterate();
  gather_basis();
  result_.solve_seconds = elapsed() - result_.setup_seconds;
  return std::move(result_);
}

template <class T>
EigenResult<T> LobpcgRun<T>::run_on(const DenseBlock<T>* constraints, DenseBlock<T> vectors,
                                    DenseBlock<T> directions) {
  continued_ = true;
  begin(constraints, std::move(vectors));
  take_directions(directions);
  directions = {};
  return iterate_and_conclude();
}

template <class T>
bool LobpcgRun<T>::stalled() {
  const double worst = worst_ratio();
  if (worst < progress * best_ratio_) {
    best_ratio_ = worst;
    since_progress_ = 0;
    return false;
  }
  return ++since_progress_ >= patience || worst > harm * best_ratio_;
}

template class LobpcgRun<float>;
template class LobpcgRun<double>;

}  // namespace block_eigs
