#include <optional>
#include <utility>

#include "apps/choice/lanczos_shift.hpp"
#include "apps/journey/eigen_ways.hpp"
#include "apps/journey/refine_by_factors.hpp"

// The ways that begin with Lanczos iterations, sigma after sigma.
namespace block_eigs {

namespace {

/// The first of these, so many at most.
template <class T>
EigenPairs<T> leading(BlockSpace<T>& space, EigenPairs<T> pairs, int most) {
  if (pairs.count() <= most) return pairs;
  EigenPairs<T> first{space.make_block(most), std::move(pairs.values), std::move(pairs.residual_norms)};
  space.copy(pairs.vectors.columns(0, most), first.vectors.view());
  first.values.resize(static_cast<std::size_t>(most));
  first.residual_norms.resize(static_cast<std::size_t>(most));
  return first;
}

}  // namespace

/// Whether these pairs of a Lanczos iteration are done, by products; the first `known` are. Factors for another
/// sigma, which is beyond them, would not make them better.
template <class T>
bool EigenWays<T>::finish(EigenPairs<T>& pairs, int known) {
  LobpcgOptions options = solver_.config.eigensolver.options;
  options.pairs = pairs.count();
  std::optional<EigenResult<T>> result =
      finished_by_factors(space_, problem_, *solver_.operators->preconditioner.operation, options, constraints_,
                          known, pairs.vectors, pairs.values);
  if (result) pairs.vectors = std::move(result->eigenvectors);
  return result.has_value();
}

/// With a shift next to the wanted values, once these are known well enough. Where some were found, and the others
/// are far, these go along and sigma passes them, unless they are not done: LOBPCG goes on with them then.
template <class T>
EigenPairs<T> EigenWays<T>::pairs_by_lanczos(std::optional<EigenResult<T>>& result, EigenResult<T>& passed) {
  ShiftTarget& target = solver_.config.eigensolver.preconditioner.direct.target;
  EigenPairs<T> kept;
  LanczosShift shift(follower_);
  const Proceed proceed = [this, &shift](const IterationReport& report) {
    IterationReport of_wanted = report;
    of_wanted.eigenvalues = report.eigenvalues.first(static_cast<std::size_t>(report.wanted));
    of_wanted.residual_norms = report.residual_norms.first(static_cast<std::size_t>(report.wanted));
    stopped_ |= wanted_ && !wanted_(of_wanted);
    return !stopped_ && shift.proceed(report);
  };
  for (;;) {
    const int known = kept.count();
    shift.begin(movable_shift(), known);
    LanczosStart<T> start =
        lanczos_start(space_, problem_, solver_, constraints_, std::move(kept), observer_, proceed, passed);
    follower_.begin(movable_shift_of_lobpcg());
    if (!shift.moves() || space_.to_end_early()) {
      result = std::move(start.result);
      return std::move(start.pairs);
    }
    kept = leading(space_, std::move(start.pairs), shift.along());
    if (kept.count() > known && !finish(kept, known)) return kept;
    target.at_zero = shift.to_zero();
    move_shift(kept.count());
    target.at_zero = false;
    shift.moved_to(movable_shift(), target.near);
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
  if (solver_.config.eigensolver.preconditioner.direct.target.found.size() > start.pairs.values.size())
    move_shift(0);
  return start;
}

template bool EigenWays<float>::finish(EigenPairs<float>&, int);
template bool EigenWays<double>::finish(EigenPairs<double>&, int);
template EigenPairs<float> EigenWays<float>::pairs_by_lanczos(std::optional<EigenResult<float>>&,
                                                              EigenResult<float>&);
template EigenPairs<double> EigenWays<double>::pairs_by_lanczos(std::optional<EigenResult<double>>&,
                                                                EigenResult<double>&);
template LanczosStart<float> EigenWays<float>::start_by_lanczos(EigenResult<float>&);
template LanczosStart<double> EigenWays<double>::start_by_lanczos(EigenResult<double>&);

}  // namespace block_eigs
