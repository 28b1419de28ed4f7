#include "solver/lobpcg/spectrum_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "solver/lobpcg/spectrum_estimate.hpp"
#include "solver/space/lowest_quotient.hpp"

namespace block_eigs {

template <class T>
std::vector<double> turned(const LobpcgRun<T>& run, std::vector<double> values) {
  if (run.options.which == Which::largest) {
    for (double& value : values) value = -value;
  }
  return values;
}

template <class T>
SpectrumBounds bounds_by_norm(const LobpcgRun<T>& run) {
  const double norm = run.problem.a.norm_inf();
  return {run.options.which == Which::largest ? -norm : 0.0, norm};
}

namespace {

/// By what X, random vectors, says of the spectrum.
template <class T>
SpectrumBounds found_bounds(const LobpcgRun<T>& run, LobpcgState<T>& state) {
  const bool largest = run.options.which == Which::largest;
  const double norm = run.problem.a.norm_inf();
  const RitzPairs& ritz = state.ritz;
  double mean = 0.0;
  double square = 0.0;
  for (std::size_t j = 0; j < ritz.values.size(); ++j) {
    mean += ritz.values[j];
    square += ritz.values[j] * ritz.values[j] + ritz.residuals[j] * ritz.residuals[j];
  }
  mean /= state.active();
  const double deviation = std::sqrt(std::max(square / state.active() - mean * mean, 0.0));
  constexpr double far = 4.0;
  if (!largest && std::max(mean, norm - mean) < far * deviation) return {0.0, norm};
  SpectrumEstimate found = estimate_spectrum(run.problem.space, run.problem.a, norm, run.options.seed + 500,
                                             state.w.vectors(), state.spare, state.p.vectors());
  state.p.set_columns(0);
  if (largest) found = {-found.highest, -found.lowest, found.margin};
  const double lower = found.lowest < 0.0 || found.lowest > found.margin ? found.lowest : 0.0;
  return {lower, std::min(found.highest + found.margin, norm)};
}

}  // namespace

template <class T>
SpectrumBounds bounds_of_spectrum(const LobpcgRun<T>& run, LobpcgState<T>& state, bool informed) {
  if (!state.spectrum) state.spectrum = informed ? bounds_by_norm(run) : found_bounds(run, state);
  return *state.spectrum;
}

template <class T>
std::optional<double> end_of_copies(const LobpcgRun<T>& run, const LobpcgState<T>& state, double first_cut,
                                    double cut) {
  constexpr double far_above = 10.0;
  const std::vector<double> values = turned(run, state.ritz.values);
  if (values.size() < 2) return std::nullopt;
  const double inner = values[(values.size() - 1) / 2];
  const double spread = values.back() - inner;
  if (are_same<T>(run, spread)) return cut;
  const double residual = state.ritz.residuals.back();
  // First filters may leave mixtures of many eigenvectors, whose values are all the mean.
  if (!(residual > far_above * spread) || !(far_above * residual < first_cut - inner)) return std::nullopt;
  return inner + 0.5 * residual * (residual / spread);
}

template <class T>
double lowest_of_constraints(const LobpcgRun<T>& run, LobpcgState<T>& state) {
  const double sign = run.options.which == Which::largest ? -1.0 : 1.0;
  state.w.set_columns(state.active());
  return lowest_quotient<T>(run.problem.space, state.deflated.v().columns(0, state.deflated.constraints()),
                            state.w.v(), state.w.a(), [&](BlockView<T> x, BlockView<T> y) {
                              run.problem.a.apply(x, y);
                              if (sign < 0.0) run.problem.space.kernels().axpby(0.0, y, -1.0, y);
                            });
}

template <class T>
int degrees_to_clean(const FilterInterval& interval, double constraints, double done) {
  // Logarithms: of how much of them may come back, and of the digits that they must leave.
  constexpr double largest_growth = 24.0;
  constexpr double left_of_digits = 3.0;
  constexpr double longest = 200.0;
  const double lowest = std::min(constraints, done);
  if (!(lowest < std::numeric_limits<double>::infinity())) return std::numeric_limits<int>::max();
  const double most = std::min(largest_growth, -std::log(std::numeric_limits<T>::epsilon()) - left_of_digits);
  return std::max(static_cast<int>(std::min(most / interval.growth(lowest), longest)), 2);
}

template <class T>
double share_of_spectrum(const LobpcgRun<T>& run, const LobpcgState<T>& state, const SpectrumBounds& bounds,
                         double share) {
  const double lowest = std::min(turned(run, state.ritz.values).front(), bounds.lower);
  return lowest + share * (bounds.upper - lowest);
}

template <class T>
double first_cut(const LobpcgRun<T>& run, const LobpcgState<T>& state, const SpectrumBounds& bounds,
                 double share) {
  const std::vector<double> values = turned(run, state.ritz.values);
  const std::vector<double> locked = turned(run, state.locked.values);
  if (locked.size() > 1) {
    // The later half: a few far below the others would tell of other distances.
    const std::size_t back = std::min(locked.size() / 2, static_cast<std::size_t>(state.active()));
    const double spacing = (locked.back() - locked[locked.size() - 1 - back]) / static_cast<double>(back);
    return std::min(values.back(), locked.back() + state.active() * spacing);
  }
  return std::min(values.back(), share_of_spectrum(run, state, bounds, share));
}

template std::vector<double> turned(const LobpcgRun<float>&, std::vector<double>);
template SpectrumBounds bounds_by_norm(const LobpcgRun<float>&);
template SpectrumBounds bounds_of_spectrum(const LobpcgRun<float>&, LobpcgState<float>&, bool);
template std::optional<double> end_of_copies(const LobpcgRun<float>&, const LobpcgState<float>&, double, double);
template std::optional<double> end_of_copies(const LobpcgRun<double>&, const LobpcgState<double>&, double, double);
template double lowest_of_constraints(const LobpcgRun<float>&, LobpcgState<float>&);
template double lowest_of_constraints(const LobpcgRun<double>&, LobpcgState<double>&);
template int degrees_to_clean<float>(const FilterInterval&, double, double);
template int degrees_to_clean<double>(const FilterInterval&, double, double);
template double share_of_spectrum(const LobpcgRun<float>&, const LobpcgState<float>&, const SpectrumBounds&,
                                  double);
template double share_of_spectrum(const LobpcgRun<double>&, const LobpcgState<double>&, const SpectrumBounds&,
                                  double);
template double first_cut(const LobpcgRun<float>&, const LobpcgState<float>&, const SpectrumBounds&, double);
template std::vector<double> turned(const LobpcgRun<double>&, std::vector<double>);
template SpectrumBounds bounds_by_norm(const LobpcgRun<double>&);
template SpectrumBounds bounds_of_spectrum(const LobpcgRun<double>&, LobpcgState<double>&, bool);
template double first_cut(const LobpcgRun<double>&, const LobpcgState<double>&, const SpectrumBounds&, double);

}  // namespace block_eigs
