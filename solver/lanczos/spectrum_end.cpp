#include "solver/lanczos/spectrum_end.hpp"

#include <algorithm>
#include <array>
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
  double length = 0.0;  ///< from the first Ritz value to the last
  bool copies =
      false;  ///< of eigenvalues at this end may be there: some were found to rounding errors (Paige 1976)
};

/// A Ritz value is an eigenvalue where its residual is so small beside the distance to the next.
constexpr double resolved = 0.01;
/// What stands for more of them is a cluster, whatever its length: nobody is told from others in it.
constexpr double cluster = 25.0;
/// The square of a normal variable is larger in 1.4% of all cases.
constexpr double surely_several = 6.0;
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
  Outermost found;
  found.length = values.back() - values.front();
  const double width = same * found.length;
  const double coupling = beside[static_cast<std::size_t>(steps - 1)];
  const auto residual_of = [&](int j) { return coupling * std::abs(vectors(steps - 1, at(j))); };
  for (int j = 0; j < steps / 2; ++j) found.copies = found.copies || residual_of(j) <= width;
  for (int j = 0; j < steps;) {
    double residual = HUGE_VAL;
    int next = j;
    for (found.weight = 0.0; next < steps && std::abs(value(next) - value(j)) <= width; ++next) {
      found.weight += vectors(0, at(next)) * vectors(0, at(next));
      residual = std::min(residual, residual_of(next));
    }
    const bool counts = found.weight >= copy / rows;
    const double times = found.weight * rows;  // that it is there, but for how the vector lies to it
    const bool eigenvalue =
        next < steps && times <= cluster && residual <= resolved * std::abs(value(next) - value(j));
    found.value = value(j);
    if (counts && !eigenvalue) break;
    if (counts) found.before += times > surely_several ? static_cast<int>(std::lround(times)) : 1;
    j = next;
  }
  return found;
}

/// By half of the steps and by all of them. Nothing where copies may be there that are `as_far_apart` as others.
SpectrumEnd end_of(const std::vector<double>& diagonal, const std::vector<double>& beside, bool upper, double rows,
                   double same, bool as_far_apart) {
  constexpr double slowest = 1.0;
  constexpr double fastest = 8.0;
  const Outermost early = outermost(diagonal, beside, steps_of_look / 2, upper, rows, same);
  const Outermost late = outermost(diagonal, beside, steps_of_look, upper, rows, same);
  if (as_far_apart && late.copies) return {};
  const double decay = std::log2(early.weight / late.weight);
  // Ritz values come near the end like the inverse square of the steps.
  const double begin = early.before == late.before ? late.value - (early.value - late.value) / 3.0 : 0.0;
  return {.known = true,
          .rows = rows,
          .isolated = static_cast<double>(late.before),
          .share = late.weight,
          .decay = std::isfinite(decay) ? std::clamp(decay, slowest, fastest) : fastest,
          .outermost = late.value,
          .begin = begin,
          .length = late.length};
}

/// What one vector tells. Collective.
template <class T>
SpectrumEnd look_with_one(BlockSpace<T>& space, LinearOperator<T>& a, const Buffer<T>* scale, End end,
                          std::uint64_t seed) {
  // What is left then is rounding errors: they grow where few eigenvalues are there many times.
  const double nothing = std::sqrt(static_cast<double>(std::numeric_limits<T>::epsilon()));
  LanczosRecurrence<T> lanczos(space, a, scale, seed);
  if (!lanczos.begun()) return {};
  double largest = 0.0;
  for (int k = 0; k < steps_of_look; ++k) {
    lanczos.step();
    largest = std::max({largest, std::abs(lanczos.diagonal().back()), lanczos.beside().back()});
    if (!(lanczos.beside().back() > nothing * largest)) return {};
  }
  if (!std::isfinite(largest)) return {};
  const double rows = static_cast<double>(space.dimension());
  constexpr int numbers = 7;
  SmallMatrix seen(numbers, 1);
  space.on_root(
      [&] {
        // In float copies are as far apart as other values are.
        const SpectrumEnd found = end_of(lanczos.diagonal(), lanczos.beside(), end == End::upper, rows, nothing,
                                         std::is_same_v<T, float>);
        const std::array<double, numbers> values{found.known ? 1.0 : 0.0, found.isolated, found.share, found.decay,
                                                 found.outermost,         found.begin,    found.length};
        std::copy(values.begin(), values.end(), seen.data());
      },
      {&seen});
  const double* values = seen.data();
  return {values[0] != 0.0, rows, values[1], values[2], values[3], values[4], values[5], values[6]};
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
  // What is left of a Ritz value that has moved farther may be no more than an error.
  constexpr double part = 0.5;
  if (!(begin * outermost > part * outermost * outermost)) return std::numeric_limits<double>::infinity();
  const double step = of_steps / steps_for(wanted);
  return step * step * length / std::abs(begin);
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
    mean.outermost = std::lerp(mean.outermost, another.outermost, 1.0 / vectors);
    mean.begin = std::lerp(mean.begin, another.begin, 1.0 / vectors);
    mean.length = std::lerp(mean.length, another.length, 1.0 / vectors);
    mean.share *= std::pow(another.share / mean.share, 1.0 / vectors);
  }
  return mean;
}

template SpectrumEnd look_at_end(BlockSpace<float>&, LinearOperator<float>&, const Buffer<float>*, End);
template SpectrumEnd look_at_end(BlockSpace<double>&, LinearOperator<double>&, const Buffer<double>*, End);

}  // namespace block_eigs
