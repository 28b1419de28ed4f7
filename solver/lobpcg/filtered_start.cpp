#include "solver/lobpcg/filtered_start.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "solver/lobpcg/chebyshev_filter.hpp"
#include "solver/lobpcg/lobpcg_start.hpp"
#include "solver/lobpcg/lobpcg_steps.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

constexpr double largest_degree = 200.0;
constexpr double smallest_degree = 4.0;
/// The logarithm of how much more a filter may keep of the lowest vector at work than of the cut: what one
/// orthonormalisation can still tell apart.
constexpr double largest_growth = 12.0;
/// The same for locked vectors, which come back from rounding errors alone and are taken out again.
constexpr double largest_locked_growth = 24.0;
/// Degrees after which nothing is expected of filters any more where there is a preconditioner, which knows more
/// of A than its norm, and after which the wanted pairs must be known. Without one nothing else would be quicker.
constexpr double most_degrees_beside_a_preconditioner = 600.0;
constexpr double most_blind_degrees = 800.0;

/// The filter to come.
struct Filter {
  FilterInterval interval;
  double degree = 0.0;
  double missing = std::numeric_limits<double>::quiet_NaN();  ///< degrees until all is done, where that is known
};

/// What the filters have come to.
struct FilterProgress {
  double cut = 0.0;         ///< of the last one
  double worst = infinity;  ///< largest ratio of a wanted pair before it, where all of them were known
  double degrees = 0.0;     ///< of all
  bool informed = false;    ///< X approximates eigenvectors, all of them
};

template <class T>
int wanted_in_window(const LobpcgState<T>& state) {
  return std::min(state.window.target - state.locked.count(), state.active());
}

template <class T>
double worst_in_window(const LobpcgState<T>& state) {
  double worst = 0.0;
  for (int j = 0; j < wanted_in_window(state); ++j) worst = std::max(worst, state.ritz.ratio(state.test, j));
  return worst;
}

/// Where to cut before anything is known of the spectrum: where the spacing of the locked pairs leads, or where a
/// short filter can.
template <class T>
double first_cut(const LobpcgState<T>& state, double upper) {
  const double last = state.ritz.values.back();
  const std::vector<double>& locked = state.locked.values;
  if (locked.size() > 1) {
    const std::size_t back = std::min(locked.size() - 1, static_cast<std::size_t>(state.active()));
    const double spacing = (locked.back() - locked[locked.size() - 1 - back]) / static_cast<double>(back);
    return std::min(last, locked.back() + state.active() * spacing);
  }
  const double lowest = std::min(state.ritz.values.front(), 0.0);
  return std::min(last, lowest + 0.04 * (upper - lowest));
}

/// Degrees that should finish all wanted pairs of the window; infinite where one lies at the cut.
template <class T>
double missing_degrees(const LobpcgRun<T>& run, const LobpcgState<T>& state, const FilterInterval& interval) {
  const double enough = state.window.target == run.options.pairs ? 1.0 : state.window.lock_share;
  double degrees = 0.0;
  for (int j = 0; j < wanted_in_window(state); ++j) {
    const double growth = interval.growth(state.ritz.values[static_cast<std::size_t>(j)]);
    degrees =
        std::max(degrees, 1.1 * std::log(2.0 * std::max(state.ritz.ratio(state.test, j) / enough, 1.0)) / growth);
  }
  return degrees;
}

/// The longest filter that leaves the vectors at work independent, and the locked ones in their place.
template <class T>
double longest_degree(const LobpcgState<T>& state, const FilterInterval& interval) {
  double degree = std::min(largest_degree, largest_growth / interval.growth(interval.anchor));
  if (state.locked.count() > 0)
    degree = std::min(degree, largest_locked_growth / interval.growth(state.locked.values.front()));
  return degree;
}

/// The next filter; nothing where filters are not expected to pay.
template <class T>
std::optional<Filter> plan(const LobpcgRun<T>& run, const LobpcgState<T>& state, const FilterProgress& progress) {
  const double upper = run.problem.a.norm_inf();
  const bool alone = run.problem.preconditioner == nullptr;
  const std::vector<double>& values = state.ritz.values;
  const bool first = progress.degrees == 0.0;
  const bool blind = first && !progress.informed;
  const double columns = state.active();
  // Eigenvalues below the last cut. Where there are fewer than columns, the other columns hold what the filter
  // should have damped, and the unwanted part of the spectrum begins about where the spacing of these leads.
  const auto below = static_cast<double>(
      std::count_if(values.begin(), values.end(), [&](double value) { return value < progress.cut; }));
  const double spread = (progress.cut - values.front()) * columns / std::max(below, 1.0);
  double cut = values.back();
  if (blind) cut = first_cut(state, upper);
  if (!first) cut = std::min(cut, values.front() + spread);

  Filter filter{{cut, upper, blind ? std::min(values.front(), 0.0) : values.front()}};
  if (!(filter.interval.anchor < cut) || !(cut < 0.5 * upper)) return std::nullopt;
  filter.degree = longest_degree(state, filter.interval);
  const bool known = first ? progress.informed : below >= wanted_in_window(state);
  if (known) {
    const double missing = missing_degrees(run, state, filter.interval);
    if (!alone && progress.degrees + missing > most_degrees_beside_a_preconditioner) return std::nullopt;
    if (!(worst_in_window(state) < 0.5 * progress.worst) && cut > 0.7 * progress.cut) return std::nullopt;
    filter.degree = std::min(filter.degree, missing);
    filter.missing = missing;
  } else if (progress.degrees > (alone ? 1.0 : 0.25) * most_blind_degrees) {
    return std::nullopt;
  }
  filter.degree = std::ceil(std::max(filter.degree, smallest_degree));
  return filter;
}

/// Makes Ritz vectors of filtered X. Where eigenvalues lie far below all Ritz values filters may overflow: then X
/// begins anew, from random vectors, and false comes back.
template <class T>
bool orthonormalize_filtered(const LobpcgRun<T>& run, LobpcgState<T>& state) {
  try {
    orthonormalize_x(run, state, 0);
    rayleigh_ritz_of_x(run, state);
    return true;
  } catch (const OnAllRanks&) {
    // What is wrong beside the filter comes up again below.
  }
  run.problem.space.fill_random(state.x.v(),
                                run.options.seed + 1000 + static_cast<std::uint64_t>(run.budget.spent()));
  orthonormalize_x(run, state, 0);
  rayleigh_ritz_of_x(run, state);
  return false;
}

}  // namespace

template <class T>
bool starts_filtered(const EigenProblem<T>& problem, const LobpcgOptions& options) {
  return options.filtered_start && options.which == Which::smallest && problem.b == nullptr &&
         problem.a.norm_inf() > 0.0;
}

template <class T>
void filtered_start(const LobpcgRun<T>& run, LobpcgState<T>& state, bool informed) {
  FilterProgress progress;
  progress.informed = informed;
  lock_converged(run, state);
  const auto next = [&]() -> std::optional<Filter> {
    if (state.locked.count() >= state.window.target || run.iterations_left() <= 0) return std::nullopt;
    return plan(run, state, progress);
  };
  for (std::optional<Filter> filter = next(); filter;) {
    const bool first = progress.degrees == 0.0;
    progress = {filter->interval.lower, first && !informed ? infinity : worst_in_window(state),
                progress.degrees + filter->degree, true};
    const LocalIndex columns = state.active();
    const int degree = static_cast<int>(filter->degree);
    state.x.compact(run.problem.space, columns, state.spare);
    state.w.set_columns(columns);
    chebyshev_filter(run.problem.space, run.problem.a, state.x.vectors(), state.w.vectors(), state.w.a(),
                     filter->interval, degree);
    run.budget.spend();
    if (!orthonormalize_filtered(run, state)) return;
    lock_converged(run, state);
    filter = next();
    report(run, state, columns, (degree + 1) * columns,
           filter ? filter->missing * state.active() : std::numeric_limits<double>::quiet_NaN());
    if (run.iterations_left() <= 0) return;
  }
}

template bool starts_filtered(const EigenProblem<float>&, const LobpcgOptions&);
template void filtered_start(const LobpcgRun<float>&, LobpcgState<float>&, bool);
template bool starts_filtered(const EigenProblem<double>&, const LobpcgOptions&);
template void filtered_start(const LobpcgRun<double>&, LobpcgState<double>&, bool);

}  // namespace block_eigs
