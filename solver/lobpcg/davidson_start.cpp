#include "solver/lobpcg/davidson_start.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solver/davidson/davidson_plan.hpp"
#include "solver/lobpcg/davidson_filters.hpp"
#include "solver/lobpcg/davidson_outliers.hpp"
#include "solver/lobpcg/lobpcg_checkpoint.hpp"
#include "solver/lobpcg/lobpcg_start.hpp"
#include "solver/lobpcg/lobpcg_steps.hpp"
#include "solver/lobpcg/spectrum_bounds.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Degrees of all columns at work after which nothing is expected any more where there is a preconditioner, which
/// knows more of A than its norm, and after which the wanted pairs must lie before the cut, a quarter of them
/// there.
constexpr double most_degrees_beside_a_preconditioner = 2000.0;
constexpr double most_blind_degrees = 800.0;
/// Of what the arithmetic allows, what a pair comes to in float before it is left to double, where filters of
/// residuals cost as much and rounding errors hold up nobody.
constexpr double left_to_double = 100.0;
/// Where filters of random vectors cut, of the spectrum's length.
constexpr double share_before_first_cut = 0.02;

template <class T>
LocalIndex append_w(Davidson<T>& it) {
  LobpcgState<T>& state = it.state;
  take_out_along_outliers(it, state.w.v());
  const LocalIndex count =
      append<T>(it.run.problem.space, it.run.problem.a, state.basis, state.deflated.v(), state.w.v(), state.w.a());
  it.products += count;
  return count;
}

/// Appends the columns of `block`.
template <class T>
void append_copy(Davidson<T>& it, ConstBlockView<T> block) {
  if (block.cols == 0) return;
  it.state.w.set_columns(block.cols);
  it.run.problem.space.copy(block, it.state.w.v());
  append_w(it);
}

/// What filters have made of random vectors may be fewer than there were, where one eigenvalue lies far before all
/// others.
template <class T>
void fill_up_with_random(Davidson<T>& it, LocalIndex width) {
  for (std::uint64_t draw = 1; it.state.basis.cols < width && draw <= most_draws; ++draw) {
    it.state.w.set_columns(width - it.state.basis.cols);
    it.run.problem.space.fill_random(it.state.w.v(), seed_of_draw(it.run, it.state, draw));
    append_w(it);
  }
}

/// X: the lowest Ritz vectors of the basis, with their images, anew, and residuals.
template <class T>
void take_x(Davidson<T>& it, LocalIndex width) {
  BlockSpace<T>& space = it.run.problem.space;
  LobpcgState<T>& state = it.state;
  it.ritz = rayleigh_ritz(space, state.basis, it.sign);
  state.x.set_columns(width);
  space.update({state.basis.v()}, it.ritz.columns(0, width), {state.x.v()});
  const BlockView<T> ax = state.make_room_for_image_of_x();
  it.run.problem.a.apply(state.x.v(), ax);
  it.products += width;
  std::vector<double> values(it.ritz.values.begin(), it.ritz.values.begin() + width);
  take_ritz_vectors<T>(it.run, state, turned(it.run, std::move(values)), ax);
}

/// P: the Ritz vectors behind X.
template <class T>
void take_p(Davidson<T>& it) {
  BlockSpace<T>& space = it.run.problem.space;
  LobpcgState<T>& state = it.state;
  const LocalIndex width = state.active();
  const LocalIndex count = std::min(width, state.basis.cols - width);
  if (count <= 0) return;
  state.p.set_columns(count);
  space.update({state.basis.v()}, it.ritz.columns(width, count), {state.p.v()});
  if (state.carries_images) it.run.problem.a.apply(state.p.v(), state.p.a());
  state.projected_p = SmallMatrix(count, count);
  for (LocalIndex j = 0; j < count; ++j)
    state.projected_p(j, j) =
        it.sign * it.ritz.values[static_cast<std::size_t>(width) + static_cast<std::size_t>(j)];
}

template <class T>
DavidsonPairs pairs_of(const Davidson<T>& it) {
  const LobpcgState<T>& state = it.state;
  const double enough = it.run.phase.verified ? 1.0 : left_to_double;
  DavidsonPairs pairs{it.ritz.values, {}, 0.0, 0.0, it.settled};
  for (int j = 0; j < state.wanted(it.run.options); ++j) {
    pairs.ratios.push_back(state.ritz.ratio(state.test, j) / enough);
    if (!(pairs.ratios.back() <= 1.0))
      pairs.largest_residual = std::max(pairs.largest_residual, state.ritz.residuals[static_cast<std::size_t>(j)]);
  }
  const auto open = static_cast<std::size_t>(pairs.first_open());
  if (open < pairs.ratios.size()) pairs.residual = state.ritz.residuals[open];
  return pairs;
}

/// V^T A V of a basis that a checkpoint held. Pairs that were done by then are locked now, so that there may be
/// more of it than the columns that are left would have. False where there is no memory for both: X, whose Ritz
/// vectors were saved with it, is what goes on then.
template <class T>
bool renew_projected(Davidson<T>& it) {
  LobpcgState<T>& state = it.state;
  DavidsonBasis<T> saved = std::move(state.basis);
  state.basis = {};
  const LocalIndex capacity = std::max<LocalIndex>(it.shape.capacity, saved.cols + it.shape.block);
  try {
    state.basis = make_davidson_basis(it.run.problem.space, capacity);
  } catch (const OnAllRanks&) {
    return false;
  }
  for (LocalIndex first = 0; first < saved.cols; first += state.window.width)
    append_copy(it, saved.v().columns(first, std::min<LocalIndex>(state.window.width, saved.cols - first)));
  return true;
}

/// Filters work on all that the norm allows.
template <class T>
void forget_outliers(Davidson<T>& it) {
  it.state.spectrum = it.progress.bounds = it.bounds = bounds_by_norm(it.run);
  it.outliers = {};
}

template <class T>
void finish_step(Davidson<T>& it, const DavidsonPairs& pairs) {
  LobpcgState<T>& state = it.state;
  it.progress.degrees += static_cast<double>(it.products) / state.active();
  it.progress.worst = pairs.worst();
  it.progress.informed = true;
  // An estimate that was none: the filter has brought out the other end of the spectrum.
  if (it.ritz.values.back() > it.bounds.upper) forget_outliers(it);
  report(it.run, state, state.active(), it.products, products_to_come(pairs, it.bounds, it.progress.cut));
  it.products = 0;
  save_if_due(it.run, state, &it.progress);
}

/// What the filter makes of X, random vectors. Where eigenvalues lie so far before the bounds that it leaves the
/// range of T, a shorter one.
template <class T>
void append_first(Davidson<T>& it, DavidsonFilter filter) {
  constexpr int shortest = 4;
  for (;; filter.degree /= 2) {
    it.state.w.set_columns(it.state.active());
    it.run.problem.space.copy(it.state.x.v(), it.state.w.v());
    filter_w(it, filter, 0);
    it.run.budget.spend();
    try {
      append_w(it);
      return;
    } catch (const NumericalError&) {
      if (filter.degree < 2 * shortest) throw;
    }
  }
}

/// Of random vectors what is found besides is kept, for the lowest pairs are there, too; others are at hand
/// already.
template <class T>
void look_for_outliers(Davidson<T>& it, bool informed, bool resumed) {
  LobpcgState<T>& state = it.state;
  if (!it.run.options.expects_outliers) return;
  try {
    if (!resumed) {
      take_out_outliers(it, state.basis);
      if (informed) state.basis.cols = 0, state.basis.projected = {};
      return;
    }
    DavidsonBasis<T> krylov = make_davidson_basis(it.run.problem.space, it.shape.capacity);
    take_out_outliers(it, krylov);
  } catch (const OnAllRanks&) {
    // No memory beside what a checkpoint held, or values that are not finite: filters will see.
    if (!resumed) state.basis.cols = 0, state.basis.projected = {};
  }
}

/// The first vectors of the basis. False where filters are no use, or have brought forth nothing that is finite.
template <class T>
bool begin(Davidson<T>& it, bool informed, bool resumed) {
  LobpcgState<T>& state = it.state;
  const LocalIndex width = state.active();
  if (resumed) {
    if (!renew_projected(it)) return false;
  } else if (state.basis.cols > 0) {
    // Vectors that were given may be better than what a Krylov space has found.
    if (state.basis.room() >= width + it.shape.block) append_copy(it, ConstBlockView<T>(state.x.v()));
    it.progress.cut = share_of_spectrum(it.run, state, it.bounds, share_before_first_cut);
    it.run.budget.spend();  // the Krylov space, which is in place of the first filter
  } else if (informed) {
    append_copy(it, ConstBlockView<T>(state.x.v()));
    // Pairs may have been locked since, so that there are fewer columns, and a smaller basis, than P was made for.
    const LocalIndex room = std::max<LocalIndex>(state.basis.room() - it.shape.block, 0);
    append_copy(it, ConstBlockView<T>(state.p.v()).columns(0, std::min(state.p.cols(), room)));
    // Else nothing is known of what lies behind X.
    if (state.basis.cols <= width)
      it.progress.cut = share_of_spectrum(it.run, state, it.bounds, share_before_first_cut);
  } else {
    const SpectrumBounds& bounds = it.bounds;
    const double lowest = std::min(turned(it.run, state.ritz.values).front(), bounds.lower);
    it.progress.cut = first_cut(it.run, state, bounds, share_before_first_cut);
    const std::optional<DavidsonFilter> filter = first_filter(lowest, it.progress.cut, bounds);
    if (!filter) return false;
    append_first(it, *filter);
  }
  fill_up_with_random(it, width);
  if (state.basis.cols < width) return false;
  take_x(it, width);
  if (it.progress.degrees == 0.0 && !informed) finish_step(it, pairs_of(it));
  return true;
}

/// One filter, its Ritz pairs, and a restart where the next one has no room. False where it has brought nothing.
template <class T>
bool step(Davidson<T>& it, const DavidsonPairs& pairs, const DavidsonFilter& filter) {
  LobpcgState<T>& state = it.state;
  const LocalIndex width = state.active();
  const std::vector<LocalIndex> open = pairs.open_columns(width, it.shape.block);
  it.progress.cut = filter.interval.lower;
  if (!filter_residuals(it, filter, pairs.first_open(), open)) {
    gather(it, open);
    filter_w(it, filter, pairs.first_open());
  }
  it.run.budget.spend();
  bool more = false;
  try {
    more = append_w(it) > 0;
  } catch (const NumericalError&) {
    // An eigenvalue far before all that are known, so that the filter has left the range of T; or one more of the
    // outliers.
    if (it.outliers.cols() > 0) {
      forget_outliers(it);
      more = true;
    }
  }
  take_x(it, width);
  if (!more || state.basis.room() >= it.shape.block) return more;
  it.settled = true;
  restart(it.run.problem.space, state.basis, it.ritz, it.sign, it.shape.keep);
  it.ritz.vectors = SmallMatrix::identity(it.shape.keep);
  it.ritz.values.resize(static_cast<std::size_t>(it.shape.keep));
  return true;
}

/// Whether LOBPCG is expected to do better.
template <class T>
bool leaves_it_to_lobpcg(const Davidson<T>& it, const DavidsonPairs& pairs) {
  const bool alone = it.run.problem.preconditioner == nullptr;
  const double to_come = products_to_come(pairs, it.bounds, it.progress.cut);
  if (std::isnan(to_come)) return it.progress.degrees > (alone ? 1.0 : 0.25) * most_blind_degrees;
  return !alone && it.progress.degrees + to_come / it.state.active() > most_degrees_beside_a_preconditioner;
}

/// Whether the first value behind X, or already those of X themselves, are but the last wanted one again.
template <class T>
bool has_copies_behind(const Davidson<T>& it) {
  const std::vector<double>& values = it.ritz.values;
  const auto width = static_cast<std::size_t>(it.state.active());
  const auto wanted = static_cast<std::size_t>(it.state.wanted(it.run.options));
  const double first = share_of_spectrum(it.run, it.state, it.bounds, share_before_first_cut);
  if (end_of_copies(it.run, it.state, first, it.progress.cut)) return true;
  return values.size() > width && are_same<T>(it.run, values[width] - values[wanted - 1]);
}

template <class T>
DavidsonEnd iterate(Davidson<T>& it) {
  constexpr double near_rounding = 10.0;
  const bool verified = it.run.phase.verified;
  DavidsonProgress progress(verified ? 0.0 : near_rounding);
  for (DavidsonPairs pairs = pairs_of(it);;) {
    if (pairs.first_open() == static_cast<int>(pairs.ratios.size()))
      return verified ? DavidsonEnd::done : DavidsonEnd::rounding;
    if (it.run.iterations_left() <= 0 || leaves_it_to_lobpcg(it, pairs)) return DavidsonEnd::left;
    if (has_copies_behind(it)) return DavidsonEnd::copies;
    const std::optional<DavidsonFilter> filter =
        next_filter(pairs, it.shape, it.bounds, it.progress.cut, it.of_residuals.has_value());
    if (!filter || !step(it, pairs, *filter)) return DavidsonEnd::left;
    const double before = pairs.worst();
    pairs = pairs_of(it);
    if (filter->of_residuals && !(pairs.worst() < 0.9 * before)) it.of_residuals.reset();
    finish_step(it, pairs);
    if (progress.ends_after(pairs, it.progress.cut)) return verified ? DavidsonEnd::left : DavidsonEnd::rounding;
  }
}

}  // namespace

template <class T>
DavidsonEnd davidson_start(const LobpcgRun<T>& run, LobpcgState<T>& state, bool informed,
                           std::optional<FilterProgress>& progress) {
  BlockSpace<T>& space = run.problem.space;
  lock_converged(run, state);
  if (state.wanted(run.options) == 0 || run.iterations_left() <= 0) {
    state.basis = {};  // one that a checkpoint held
    return state.wanted(run.options) == 0 ? DavidsonEnd::done : DavidsonEnd::left;
  }
  Davidson<T> it{run, state, davidson_shape(state.active(), space.dimension() - state.deflated.cols())};
  if (run.options.which == Which::largest) it.sign = -1.0;
  if (state.basis.cols == 0) {
    try {
      state.basis = make_davidson_basis(space, it.shape.capacity);
    } catch (const OnAllRanks&) {
      return DavidsonEnd::no_memory;
    }
  }
  const bool resumed = progress.has_value();
  it.settled = informed || resumed;
  it.constraints = lowest_of_constraints(run, state);
  if (resumed) {
    it.progress = *progress;
  } else {
    it.progress.cut = -infinity;
    it.progress.bounds = bounds_of_spectrum(run, state, informed);
  }
  state.spectrum = it.bounds = it.progress.bounds;
  look_for_outliers(it, informed, resumed);
  if (!run.options.filter_basis && !resumed && it.outliers.cols() == 0) {
    state.basis = {};
    return DavidsonEnd::no_outliers;
  }
  prepare_filter_of_residuals(it);
  DavidsonEnd end = DavidsonEnd::left;
  try {
    if (begin(it, informed, resumed)) {
      end = iterate(it);
      // For another phase, or for LOBPCG to go on with.
      const bool goes_on = !run.phase.verified || (end != DavidsonEnd::done && run.iterations_left() > 0);
      if (goes_on && !has_copies_behind(it)) take_p(it);
    }
  } catch (const NumericalError&) {
    // Filters may overflow where eigenvalues lie far before all Ritz values: X begins anew.
    space.fill_random(state.x.v(), run.options.seed + 1000 + static_cast<std::uint64_t>(run.budget.spent()));
    orthonormalize_x(run, state, 0);
    rayleigh_ritz_of_x(run, state);
  }
  state.basis = {};
  progress = it.progress;
  progress->informed = true;
  progress->locked = state.locked.count();
  progress->worst = infinity;
  return end;
}

template DavidsonEnd davidson_start(const LobpcgRun<float>&, LobpcgState<float>&, bool,
                                    std::optional<FilterProgress>&);
template DavidsonEnd davidson_start(const LobpcgRun<double>&, LobpcgState<double>&, bool,
                                    std::optional<FilterProgress>&);

}  // namespace block_eigs
