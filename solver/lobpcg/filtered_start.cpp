#include "solver/lobpcg/filtered_start.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "solver/davidson/chebyshev_filter.hpp"
#include "solver/lobpcg/lobpcg_checkpoint.hpp"
#include "solver/lobpcg/lobpcg_start.hpp"
#include "solver/lobpcg/lobpcg_steps.hpp"
#include "solver/lobpcg/spectrum_bounds.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

constexpr double largest_degree = 200.0;
constexpr double smallest_degree = 4.0;
/// The logarithm of how much more a filter may keep of the lowest vector at work than of the cut: what one
/// orthonormalisation can still tell apart.
constexpr double largest_growth = 12.0;
/// Degrees after which nothing is expected of filters any more where there is a preconditioner, which knows more
/// of A than its norm, and after which the wanted pairs must be known. Without one nothing else would be quicker.
constexpr double most_degrees_beside_a_preconditioner = 600.0;
constexpr double most_blind_degrees = 800.0;
/// Where filters of random vectors cut, of the spectrum's length: as far as a short one can.
constexpr double share_before_first_cut = 0.04;

/// The filter to come.
struct Filter {
  FilterInterval interval;
  double degree = 0.0;
  double missing = std::numeric_limits<double>::quiet_NaN();  ///< degrees until all is done, where that is known
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

/// Degrees that should finish all wanted pairs of the window; infinite where one lies at the cut.
template <class T>
double missing_degrees(const LobpcgRun<T>& run, const LobpcgState<T>& state, const FilterInterval& interval) {
  const std::vector<double> values = turned(run, state.ritz.values);
  const double enough = state.window.target == run.options.pairs ? 1.0 : state.window.lock_share;
  double degrees = 0.0;
  for (int j = 0; j < wanted_in_window(state); ++j) {
    const double growth = interval.growth(values[static_cast<std::size_t>(j)]);
    degrees =
        std::max(degrees, 1.1 * std::log(2.0 * std::max(state.ritz.ratio(state.test, j) / enough, 1.0)) / growth);
  }
  return degrees;
}

/// The longest filter that leaves the vectors at work independent, and squares of their numbers within the range
/// of T where they hold something of eigenvalues down to `lower`.
template <class T>
double longest_degree(const FilterInterval& interval, double lower) {
  const double growth = interval.growth(interval.anchor);
  const double degree = std::min(largest_degree, largest_growth / growth);
  const double unseen = interval.growth(std::min(lower, interval.anchor)) - growth;
  const double range = 0.4 * std::log(static_cast<double>(std::numeric_limits<T>::max()));
  return unseen > 0.0 ? std::min(degree, range / unseen) : degree;
}

/// A filter after one that has cut below all of the spectrum, so that it has told nothing apart: it cuts behind a
/// Ritz value, and so behind what is wanted, wherever that is. No shorter cut is tried instead, which would damp
/// what is wanted among all else. Nothing where one has been tried.
template <class T>
std::optional<Filter> plan_behind(const std::vector<double>& values, const FilterProgress& progress,
                                  double middle) {
  const double upper = progress.bounds.upper;
  const double lowest = std::max(progress.bounds.lower, progress.cut);
  const double cut = std::min(values.back(), 0.5 * (values.front() + upper));
  if (!(progress.cut < middle) || !(values.front() < cut) || !(lowest < cut)) return std::nullopt;
  Filter filter{{cut, upper, lowest}};
  filter.degree = std::ceil(std::max(longest_degree<T>(filter.interval, progress.bounds.lower), smallest_degree));
  return filter;
}

/// Where the spectrum begins behind outliers: pairs that are locked or at work and lie farther below the next one
/// than the others at work extend from there.
double floor_of(const std::vector<double>& locked, const std::vector<double>& values,
                const SpectrumBounds& bounds) {
  std::size_t first = values.size() / 2;
  const auto apart = [&](double below) { return values[first] - below > values.back() - values[first]; };
  while (first > 0 && !apart(values[first - 1])) --first;
  if (first == 0 && (locked.empty() || !apart(locked.back()))) return bounds.lower;
  return values[first];
}

/// A filter after one that has told a few outliers apart and nothing else: short, for it keeps so much more of
/// these that the rest of a longer one would be lost, and cutting higher, so that it finishes them. Once they are
/// locked the others are looked for where they begin.
template <class T>
Filter plan_for_outliers(const std::vector<double>& values, const FilterProgress& progress, double middle) {
  Filter filter{{0.5 * (progress.cut + middle), progress.bounds.upper, values.front()}};
  filter.degree = std::ceil(std::max(longest_degree<T>(filter.interval, progress.bounds.lower), smallest_degree));
  return filter;
}

/// The next filter; nothing where filters are not expected to pay.
template <class T>
std::optional<Filter> plan(const LobpcgRun<T>& run, const LobpcgState<T>& state, const FilterProgress& progress) {
  const double upper = progress.bounds.upper;
  const bool alone = run.problem.preconditioner == nullptr;
  const std::vector<double> values = turned(run, state.ritz.values);
  const bool first = progress.degrees == 0.0;
  const bool blind = first && !progress.informed;
  const double columns = state.active();
  constexpr double few = 0.25;
  // Eigenvalues below the last cut. Where there are fewer than columns, the other columns hold what the filter
  // should have damped, and the unwanted part of the spectrum begins about where the spacing of these leads.
  const auto below = static_cast<double>(
      std::count_if(values.begin(), values.end(), [&](double value) { return value < progress.cut; }));
  // None below it says that the cut was too low.
  const double spread = below > 0.0 ? (progress.cut - values.front()) * columns / below : infinity;
  double cut = values.back();
  if (blind) cut = first_cut(run, state, progress.bounds, share_before_first_cut);
  if (!first) cut = std::min(cut, values.front() + spread);
  if (!blind) {
    // A cut among copies of one value would tell nothing apart.
    const double first_one = share_of_spectrum(run, state, progress.bounds, share_before_first_cut);
    cut = std::max(cut, end_of_copies(run, state, first_one, first ? first_one : progress.cut).value_or(cut));
  }

  // What is left of the spectrum begins behind the locked pairs.
  const std::vector<double> locked = turned(run, state.locked.values);
  const double begin = locked.empty() ? progress.bounds.lower : std::max(progress.bounds.lower, locked.back());
  const double lowest = std::min(values.front(), begin);
  const double middle = 0.5 * (upper + std::max(begin, -upper));
  if (!first && below == 0.0 && !(cut < middle)) return plan_behind<T>(values, progress, middle);
  const bool blind_for_long = progress.degrees > (alone ? 1.0 : 0.25) * most_blind_degrees;
  if (!first && !blind_for_long && below < few * columns && progress.cut < middle && !(cut < middle))
    return plan_for_outliers<T>(values, progress, middle);
  Filter filter{{cut, upper, blind ? lowest : values.front()}};
  const bool expected = first || progress.cut < middle;  // not what plan_behind() came upon
  if (!(filter.interval.anchor < cut) || (expected && !(cut < middle))) return std::nullopt;
  filter.degree = longest_degree<T>(filter.interval, progress.bounds.lower);
  const bool known = first ? progress.informed : below >= wanted_in_window(state);
  if (known) {
    const double missing = missing_degrees(run, state, filter.interval);
    if (!alone && progress.degrees + missing > most_degrees_beside_a_preconditioner) return std::nullopt;
    const double floor = floor_of(locked, values, progress.bounds);
    const bool same_cut = cut - floor > 0.7 * (progress.cut - floor);
    // Pairs far below the others keep filters short until they are locked.
    const bool same_vectors = state.locked.count() == progress.locked;
    if (same_cut && same_vectors && !(worst_in_window(state) < 0.5 * progress.worst)) return std::nullopt;
    filter.degree = std::min(filter.degree, missing);
    filter.missing = missing;
  } else if (blind_for_long) {
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
  return options.filtered_start && problem.b == nullptr && problem.a.norm_inf() > 0.0;
}

template <class T>
void filtered_start(const LobpcgRun<T>& run, LobpcgState<T>& state, bool informed,
                    const std::optional<FilterProgress>& before) {
  const double sign = run.options.which == Which::largest ? -1.0 : 1.0;
  lock_converged(run, state);
  if (state.locked.count() >= state.window.target || run.iterations_left() <= 0) return;
  FilterProgress progress;
  if (before) {
    progress = *before;
    state.spectrum = progress.bounds;
  } else {
    progress.bounds = bounds_of_spectrum(run, state, informed);
    progress.informed = informed;
  }
  const auto next = [&]() -> std::optional<Filter> {
    if (state.locked.count() >= state.window.target || run.iterations_left() <= 0) return std::nullopt;
    return plan(run, state, progress);
  };
  const double constraints = lowest_of_constraints(run, state);
  for (std::optional<Filter> filter = next(); filter;) {
    const bool first = progress.degrees == 0.0;
    progress = {progress.bounds,
                filter->interval.lower,
                first && !informed ? infinity : worst_in_window(state),
                progress.degrees + filter->degree,
                true,
                state.locked.count()};
    const LocalIndex columns = state.active();
    const int degree = static_cast<int>(filter->degree);
    state.x.compact(run.problem.space, columns, state.spare);
    state.w.set_columns(columns);
    const double locked = state.locked.count() > 0 ? turned(run, state.locked.values).front() : infinity;
    const int period = degrees_to_clean<T>(filter->interval, constraints, locked);
    chebyshev_filter<T>(run.problem.space, run.problem.a, state.x.vectors(), state.w.vectors(), state.w.a(),
                        filter->interval, sign, degree, [&](int k, BlockView<T> last, BlockView<T> before_last) {
                          if (k % period != 0) return;
                          for (const BlockView<T> block : {last, before_last}) deflate(run.problem, state, block);
                        });
    run.budget.spend();
    if (!orthonormalize_filtered(run, state)) return;
    // An estimate that was none: the filter has brought out the other end of the spectrum.
    if (sign * state.ritz.values.back() > progress.bounds.upper)
      state.spectrum = progress.bounds = bounds_by_norm(run);
    lock_converged(run, state);
    filter = next();
    report(run, state, columns, (degree + 1) * columns,
           filter ? filter->missing * state.active() : std::numeric_limits<double>::quiet_NaN());
    save_if_due(run, state, &progress);
    if (run.iterations_left() <= 0) return;
  }
}

template bool starts_filtered(const EigenProblem<float>&, const LobpcgOptions&);
template void filtered_start(const LobpcgRun<float>&, LobpcgState<float>&, bool,
                             const std::optional<FilterProgress>&);
template bool starts_filtered(const EigenProblem<double>&, const LobpcgOptions&);
template void filtered_start(const LobpcgRun<double>&, LobpcgState<double>&, bool,
                             const std::optional<FilterProgress>&);

}  // namespace block_eigs
