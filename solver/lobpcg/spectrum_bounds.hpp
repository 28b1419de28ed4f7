#pragma once

#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "solver/davidson/davidson_plan.hpp"
#include "solver/lobpcg/lobpcg_state.hpp"

// What filters are told of the spectrum before they have seen it.
namespace block_eigs {

/// Values of pairs as those of the matrix whose smallest eigenvalues are wanted, A or -A: ascending.
template <class T>
std::vector<double> turned(const LobpcgRun<T>& run, std::vector<double> values);

/// The norm of A bounds its spectrum, and costs nothing; that nothing lies below zero is mostly so, and no filter
/// relies on it. Not collective.
template <class T>
SpectrumBounds bounds_by_norm(const LobpcgRun<T>& run);

/// state.spectrum, which is found first where it is not there. The bounds by the norm are taken unless they are
/// far from where the eigenvalues of a random block lie, by their mean and their variance: ends of a spectrum that
/// filters have no use for cost them degrees. With largest pairs wanted they need to know where the other end is.
/// X is random and has its Ritz values, or it is `informed`, approximates eigenvectors, and says nothing of the
/// rest; P and W are used up. Collective.
template <class T>
SpectrumBounds bounds_of_spectrum(const LobpcgRun<T>& run, LobpcgState<T>& state, bool informed);

/// Whether two Ritz values differ by rounding errors alone. Never in float, whose errors depend on the vectors too
/// much. Not collective.
template <class T>
bool are_same(const LobpcgRun<T>& run, double difference) {
  constexpr double noise = 10.0 * std::numeric_limits<T>::epsilon();
  return std::is_same_v<T, double> && difference <= noise * run.problem.a.norm_inf();
}

/// Where to cut behind an eigenvalue that at least the later half of X are copies of, filters having cut at
/// `first_cut` and at `cut` of late; nothing where they are no copies. Of a copy with an error of e along
/// eigenvectors of mu the value is off by e^2 mu and the residual is e mu, mu being the distance from that
/// eigenvalue, so that both tell mu, and the cut is half way; where it was where they tell nothing any more.
/// Values as turned() gives them. Not collective.
template <class T>
std::optional<double> end_of_copies(const LobpcgRun<T>& run, const LobpcgState<T>& state, double first_cut,
                                    double cut);

/// How low the eigenvalues of the constraints are, as those of the matrix whose smallest ones are wanted; infinite
/// without constraints, of which there are those with B the identity alone. W is used up. Collective.
template <class T>
double lowest_of_constraints(const LobpcgRun<T>& run, LobpcgState<T>& state);

/// Degrees of a filter for this interval after which the deflated vectors, constraints with values from
/// `constraints` on, and pairs that are done, from `done` on, have come back from rounding errors.
template <class T>
int degrees_to_clean(const FilterInterval& interval, double constraints, double done);

/// The place behind that share of the spectrum, from the lowest Ritz value of X or where it is expected to begin.
template <class T>
double share_of_spectrum(const LobpcgRun<T>& run, const LobpcgState<T>& state, const SpectrumBounds& bounds,
                         double share);

/// Where to cut before anything is known of the spectrum: where the spacing of the locked pairs leads, or behind
/// this share of its length.
template <class T>
double first_cut(const LobpcgRun<T>& run, const LobpcgState<T>& state, const SpectrumBounds& bounds, double share);

}  // namespace block_eigs
