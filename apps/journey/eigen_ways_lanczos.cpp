#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "apps/journey/eigen_ways.hpp"
#include "apps/journey/refine_by_factors.hpp"

// The ways that begin with Lanczos iterations, sigma after sigma.
namespace block_eigs {

namespace {

/// The first of these, so many at most.
template <class T>
FoundPairs<T> leading(BlockSpace<T>& space, FoundPairs<T> pairs, int most) {
  if (pairs.count() <= most) return pairs;
  FoundPairs<T> first{space.make_block(most), std::move(pairs.values), std::move(pairs.residual_norms)};
  space.copy(pairs.vectors.columns(0, most), first.vectors.view());
  first.values.resize(static_cast<std::size_t>(most));
  first.residual_norms.resize(static_cast<std::size_t>(most));
  return first;
}

}  // namespace

/// Whether these pairs of a Lanczos iteration are done, by products; the first `known` are. Factors for another
/// sigma, which is beyond them, would not make them better.
template <class T>
bool EigenWays<T>::finish(FoundPairs<T>& pairs, int known) {
  LobpcgOptions options = solver_.config.eigensolver.options;
  options.pairs = pairs.count();
  std::optional<EigenResult<T>> result = finished_by_factors(
      space_, problem_, *solver_.operators->preconditioner.operation, options, known, pairs.vectors, pairs.values);
  if (result) pairs.vectors = std::move(result->eigenvectors);
  return result.has_value();
}

/// With a shift next to the wanted values, once these are known well enough. Values within the distance that sigma
/// keeps from zero are hidden by that distance: factors of A itself, where its pivots are positive, tell them
/// apart. Where some were found, and the others are far, these go along and sigma passes them, unless they are
/// not done: LOBPCG goes on then.
template <class T>
FoundPairs<T> EigenWays<T>::pairs_by_lanczos(std::optional<EigenResult<T>>& result, EigenResult<T>& passed) {
  constexpr int steps_at_rest = 4;
  DirectConfig& direct = solver_.config.eigensolver.preconditioner.direct;
  FoundPairs<T> kept;
  bool stays = false;    // sigma, for none is nearer
  bool hidden = false;   // they were
  bool to_zero = false;  // with the next shift
  int along = 0;         // of the pairs, with another one
  int converged = 0;     // and for how many steps no more
  int resting = 0;
  const Proceed proceed = [&](const IterationReport& report) {
    IterationReport of_wanted = report;
    of_wanted.eigenvalues = report.eigenvalues.first(static_cast<std::size_t>(report.wanted));
    of_wanted.residual_norms = report.residual_norms.first(static_cast<std::size_t>(report.wanted));
    stopped_ |= wanted_ && !wanted_(of_wanted);
    const double first = of_wanted.eigenvalues.front();
    const double last = of_wanted.eigenvalues.back();
    if (stopped_ || stays || !std::isfinite(last)) return !stopped_;
    const double shift = movable_shift();
    along = kept.count();
    if (!hidden && along == 0 && shift * first < 0.0 && shift * last < 0.0 &&
        std::max(std::abs(first), std::abs(last)) < std::abs(shift)) {
      hidden = to_zero = moves_ = true;
      return false;
    }
    IterationReport without_new = report;
    without_new.converged = along;
    moves_ = !follower_.proceed(without_new);
    resting = report.converged > converged ? 0 : resting + 1;
    converged = report.converged;
    if (moves_ || converged == along || converged == report.wanted || resting < steps_at_rest) return !moves_;
    ShiftFollower beyond_new = follower_;
    beyond_new.begin(shift, {.steps = 1});
    moves_ = !beyond_new.proceed(report);
    if (!moves_) return true;
    follower_ = beyond_new;
    along = converged;
    return false;
  };
  for (;;) {
    follower_.begin(movable_shift(), patience_of_lanczos);
    const int known = kept.count();
    LanczosStart<T> start =
        lanczos_start(space_, problem_, solver_, constraints_, std::move(kept), observer_, proceed, passed);
    follower_.begin(movable_shift_of_lobpcg());
    if (!moves_) {
      result = std::move(start.result);
      return std::move(start.pairs);
    }
    kept = leading(space_, std::move(start.pairs), along);
    if (along > known && !finish(kept, known)) {
      moves_ = false;
      return {};
    }
    converged = along;
    resting = 0;
    const double before = movable_shift();
    const bool looked_at_zero = direct.at_zero = std::exchange(to_zero, false);
    take_it(along);
    direct.at_zero = false;
    const auto from_others = [&](double sigma) { return std::abs(direct.near.value_or(sigma) - sigma); };
    stays = !looked_at_zero && !(from_others(movable_shift()) < 0.5 * from_others(before));
  }
}

/// The block of LOBPCG begins with what a Lanczos iteration has left. Where that does not hold all pairs that
/// sigma has passed, factors would be indefinite: sigma goes back.
template <class T>
LanczosStart<T> EigenWays<T>::start_by_lanczos(EigenResult<T>& passed) {
  LanczosStart<T> start;
  start.pairs = pairs_by_lanczos(start.result, passed);
  if (start.result) return start;
  start.pairs = leading(space_, std::move(start.pairs), block_width(solver_.config.eigensolver.options));
  if (solver_.config.eigensolver.preconditioner.direct.found.size() > start.pairs.values.size()) {
    moves_ = true;
    take_it(0);
  }
  return start;
}

template bool EigenWays<float>::finish(FoundPairs<float>&, int);
template bool EigenWays<double>::finish(FoundPairs<double>&, int);
template FoundPairs<float> EigenWays<float>::pairs_by_lanczos(std::optional<EigenResult<float>>&,
                                                              EigenResult<float>&);
template FoundPairs<double> EigenWays<double>::pairs_by_lanczos(std::optional<EigenResult<double>>&,
                                                                EigenResult<double>&);
template LanczosStart<float> EigenWays<float>::start_by_lanczos(EigenResult<float>&);
template LanczosStart<double> EigenWays<double>::start_by_lanczos(EigenResult<double>&);

}  // namespace block_eigs
