#include "solver/lobpcg/spectrum_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "solver/lobpcg/spectrum_estimate.hpp"

namespace block_eigs {

template <class T>
std::vector<double> turned(const LobpcgRun<T>& run, std::vector<double> values) {
  if (run.options.which == Which::largest) {
    for (double& value : values) value = -value;
  }
  return values;
}

template <class T>
SpectrumBounds bounds_of_spectrum(const LobpcgRun<T>& run, LobpcgState<T>& state) {
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

template <class T>
double first_cut(const LobpcgRun<T>& run, const LobpcgState<T>& state, const SpectrumBounds& bounds) {
  const std::vector<double> values = turned(run, state.ritz.values);
  const std::vector<double> locked = turned(run, state.locked.values);
  if (locked.size() > 1) {
    const std::size_t back = std::min(locked.size() - 1, static_cast<std::size_t>(state.active()));
    const double spacing = (locked.back() - locked[locked.size() - 1 - back]) / static_cast<double>(back);
    return std::min(values.back(), locked.back() + state.active() * spacing);
  }
  const double lowest = std::min(values.front(), bounds.lower);
  return std::min(values.back(), lowest + 0.04 * (bounds.upper - lowest));
}

template std::vector<double> turned(const LobpcgRun<float>&, std::vector<double>);
template SpectrumBounds bounds_of_spectrum(const LobpcgRun<float>&, LobpcgState<float>&);
template double first_cut(const LobpcgRun<float>&, const LobpcgState<float>&, const SpectrumBounds&);
template std::vector<double> turned(const LobpcgRun<double>&, std::vector<double>);
template SpectrumBounds bounds_of_spectrum(const LobpcgRun<double>&, LobpcgState<double>&);
template double first_cut(const LobpcgRun<double>&, const LobpcgState<double>&, const SpectrumBounds&);

}  // namespace block_eigs
