#include "solver/lanczos/spectrum_end.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "solver/lanczos/lanczos_recurrence.hpp"
#include "solver/small/lapack.hpp"

namespace block_eigs {

namespace {

/// The first Ritz value from an end that stands for more than an eigenvalue of its own.
struct Outermost {
  int before = 0;
  double weight = 0.0;
  double value = 0.0;
  bool copies =
      false;  ///< of eigenvalues at this end may be there: some were found to rounding errors (Paige 1976)
};

/// A Ritz value is an eigenvalue where its residual is so small beside the distance to the next.
constexpr double resolved = 0.01;
/// Once one has been found, rounding errors bring it forth again, at first with a weight of so little of one.
constexpr double copy = 0.01;

/// Of the leading `steps` rows of the tridiagonal matrix for `rows` eigenvalues, from its lower end, or its upper
/// one. Values within `same` of the spectrum's length are copies of one.
Outermost outermost(const std::vector<double>& diagonal, const std::vector<double>& beside, int steps, bool upper,
                    double rows, double same) {
  SmallMatrix vectors(steps, steps);
  for (int i = 0; i < steps; ++i) {
    vectors(i, i) = diagonal[static_cast<std::size_t>(i)];
    if (i + 1 < steps) vectors(i + 1, i) = vectors(i, i + 1) = beside[static_cast<std::size_t>(i)];
  }
  const std::vector<double> values = lapack::symmetric_eigen(vectors);
  const auto at = [&](int j) { return upper ? steps - 1 - j : j; };
  const auto value = [&](int j) { return values[static_cast<std::size_t>(at(j))]; };
  const double width = same * (values.back() - values.front());
  const double coupling = beside[static_cast<std::size_t>(steps - 1)];
  const auto residual_of = [&](int j) { return coupling * std::abs(vectors(steps - 1, at(j))); };
  Outermost found;
  for (int j = 0; j < steps / 2; ++j) found.copies = found.copies || residual_of(j) <= width;
  for (int j = 0; j < steps;) {
    double residual = HUGE_VAL;
    int next = j;
    for (found.weight = 0.0; next < steps && std::abs(value(next) - value(j)) <= width; ++next) {
      found.weight += vectors(0, at(next)) * vectors(0, at(next));
      residual = std::min(residual, residual_of(next));
    }
    const bool counts = found.weight >= copy / rows;
    const bool eigenvalue = next < steps && residual <= resolved * std::abs(value(next) - value(j));
    found.value = value(j);
    if (counts && !eigenvalue) break;
    if (counts) ++found.before;
    j = next;
  }
  return found;
}

/// Ritz values come near the end of a spectrum like the inverse square of the steps. What is left then of what has
/// moved more than half way to zero is no more than an error.
double begin_of(const Outermost& early, const Outermost& late) {
  constexpr double part = 0.5;
  const double begin = late.before == early.before ? late.value - (early.value - late.value) / 3.0 : late.value;
  return begin * late.value > part * late.value * late.value ? begin : 0.0;
}

/// What one vector tells. Collective.
template <class T>
SpectrumEnd look_with_one(BlockSpace<T>& space, LinearOperator<T>& a, const Buffer<T>* scale, End end,
                          std::uint64_t seed) {
  constexpr int half = steps_of_look / 2;
  constexpr double slowest = 1.0;
  constexpr double fastest = 8.0;
  // What is left then is rounding errors: they grow where few eigenvalues are there many times.
  const double nothing = std::sqrt(static_cast<double>(std::numeric_limits<T>::epsilon()));
  LanczosRecurrence<T> lanczos(space, a, scale, seed);
  const double rows = static_cast<double>(space.dimension());
  double largest = 0.0;
  for (int k = 0; k < steps_of_look; ++k) {
    if (k == 0 ? !lanczos.begun() : !(lanczos.beside().back() > nothing * largest)) return {};
    lanczos.step();
    largest = std::max({largest, std::abs(lanczos.diagonal().back()), lanczos.beside().back()});
  }
  if (!std::isfinite(largest)) return {};
  constexpr int numbers = 6;
  SmallMatrix seen(numbers, 1);
  space.on_root(
      [&] {
        const auto after = [&](int steps) {
          return outermost(lanczos.diagonal(), lanczos.beside(), steps, end == End::upper, rows, nothing);
        };
        const Outermost early = after(half);
        const Outermost late = after(steps_of_look);
        seen(0, 0) = late.before;
        seen(1, 0) = late.weight;
        seen(2, 0) = std::log2(early.weight / late.weight);
        seen(3, 0) = late.copies ? 1.0 : 0.0;
        seen(4, 0) = begin_of(early, late);
        seen(5, 0) = 2.0 * largest;
      },
      {&seen});
  // In float copies are as far apart as other values are.
  if (std::is_same_v<T, float> && seen(3, 0) != 0.0) return {};
  const double decay = std::isfinite(seen(2, 0)) ? std::clamp(seen(2, 0), slowest, fastest) : fastest;
  return {true, rows, seen(0, 0), seen(1, 0), decay, seen(4, 0), seen(5, 0)};
}

}  // namespace

double SpectrumEnd::steps_for(double wanted) const {
  if (wanted <= isolated) return steps_of_look;
  const double wanted_share = std::max(wanted - isolated, 1.0) / rows;
  return steps_of_look * std::pow(share / wanted_share, 1.0 / decay);
}

double SpectrumEnd::relative_extent(double wanted) const {
  // Measured on meshes in one to three dimensions, within a factor of two: these lie within (1.7 / steps)^2 of the
  // spectrum's length.
  constexpr double of_steps = 1.7;
  const double part = of_steps / steps_for(wanted);
  return begin != 0.0 ? part * part * length / std::abs(begin) : std::numeric_limits<double>::infinity();
}

template <class T>
SpectrumEnd look_at_end(BlockSpace<T>& space, LinearOperator<T>& a, const Buffer<T>* scale, End end) {
  constexpr std::uint64_t seed = 0x5eed0e9d;
  constexpr int most_vectors = 4;
  constexpr double enough = 400.0;
  SpectrumEnd mean = look_with_one(space, a, scale, end, seed);
  double vectors = 1.0;
  for (int k = 1; k < most_vectors && mean.known && vectors * mean.share * mean.rows < enough; ++k) {
    const SpectrumEnd another = look_with_one(space, a, scale, end, seed + static_cast<std::uint64_t>(k));
    if (!another.known) return {};
    // To a vector that finds fewer values by themselves the next of them passes for the rest.
    if (another.isolated < mean.isolated) continue;
    vectors = another.isolated > mean.isolated ? 1.0 : vectors + 1.0;
    mean.isolated = another.isolated;
    mean.decay = std::lerp(mean.decay, another.decay, 1.0 / vectors);
    mean.begin = std::lerp(mean.begin, another.begin, 1.0 / vectors);
    mean.length = std::lerp(mean.length, another.length, 1.0 / vectors);
    mean.share *= std::pow(another.share / mean.share, 1.0 / vectors);
  }
  return mean;
}

template SpectrumEnd look_at_end(BlockSpace<float>&, LinearOperator<float>&, const Buffer<float>*, End);
template SpectrumEnd look_at_end(BlockSpace<double>&, LinearOperator<double>&, const Buffer<double>*, End);

}  // namespace block_eigs
