#include "solver/small/curvature.hpp"

#include <algorithm>
#include <cmath>

#include "solver/small/lapack.hpp"

namespace block_eigs {

namespace {

/// By how much a negative value has to exceed an estimate of rounding errors.
constexpr double beyond_doubt = 100.0;
/// Part of an estimate that rounding errors, of which many cancel, hardly exceed.
constexpr double likely = 0.1;

SmallMatrix half_of(const SmallMatrix& products, int first) {
  SmallMatrix result(products.rows(), products.rows());
  std::copy_n(products.column(first), result.values().size(), result.data());
  return result;
}

/// Columns V with V^T gram V = I on the well-conditioned part of the space.
SmallMatrix orthonormal_coordinates(const SmallMatrix& gram) {
  constexpr double dependent = 1e-4;
  const int n = gram.cols();
  std::vector<double> scales;
  for (int j = 0; j < n; ++j) scales.push_back(gram(j, j) > 0.0 ? 1.0 / std::sqrt(gram(j, j)) : 0.0);
  SmallMatrix vectors(n, n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      vectors(i, j) = gram(i, j) * scales[static_cast<std::size_t>(i)] * scales[static_cast<std::size_t>(j)];
    }
  }
  if (!vectors.all_finite()) return {n, 0};
  const std::vector<double> values = lapack::symmetric_eigen(vectors);
  int first = 0;
  while (first < n && values[static_cast<std::size_t>(first)] < dependent) ++first;
  SmallMatrix result(n, n - first);
  for (int j = first; j < n; ++j) {
    const double root = std::sqrt(values[static_cast<std::size_t>(j)]);
    for (int i = 0; i < n; ++i) result(i, j - first) = scales[static_cast<std::size_t>(i)] * vectors(i, j) / root;
  }
  return result;
}

/// Bound of v^T M v with signs taken away, from the diagonal of M: how much larger rounding errors in S^T A S get.
double amplification(const std::vector<double>& diagonal, const double* v) {
  double sum = 0.0;
  for (std::size_t i = 0; i < diagonal.size(); ++i) sum += std::abs(v[i]) * std::sqrt(std::max(diagonal[i], 0.0));
  return sum * sum;
}

/// What p^T A p, p = S v, may be off by for rounding errors.
struct Noise {
  double proven = 0.0;    ///< with ||A|| ||p||^2: never less than what they are
  double estimate = 0.0;  ///< with |p|^T |A| |p|, where that is known and less
  double likely = 0.0;    ///< what they hardly exceed

  bool exceeded_below(double value) const { return value < -std::min(proven, beyond_doubt * estimate); }
};

Noise noise_of(double bound, double scale, double epsilon) {
  const double rounding = 10.0 * epsilon;
  Noise noise;
  noise.proven = rounding * bound;
  noise.estimate = std::min(noise.proven, rounding * scale);
  noise.likely = std::min(noise.proven, likely * rounding * scale);
  return noise;
}

SmallMatrix columns_from(const std::vector<double>& values, int rows) {
  SmallMatrix result(rows, static_cast<int>(values.size()) / std::max(rows, 1));
  std::copy(values.begin(), values.end(), result.data());
  return result;
}

}  // namespace

CurvatureSign curvature_sign(double value, double bound, double scale, double epsilon, double inner) {
  Noise noise = noise_of(bound, scale, epsilon);
  noise.likely = std::max(noise.likely, std::min(noise.proven, epsilon * inner));
  if (noise.exceeded_below(value)) return CurvatureSign::negative;
  return value <= noise.likely ? CurvatureSign::vanishing : CurvatureSign::positive;
}

Curvature examine_curvature(const SmallMatrix& products, double norm_a, double epsilon,
                            const CurvatureMeasure* measure) {
  Curvature result;
  result.null_directions.resize(products.rows(), 0);
  result.suspects.resize(products.rows(), 0);
  const SmallMatrix projected = half_of(products, 0);
  const SmallMatrix gram = half_of(products, products.rows());
  const SmallMatrix basis = orthonormal_coordinates(measure != nullptr ? measure->weights : gram);
  SmallMatrix rotation = lapack::product(basis, true, lapack::product(projected, false, basis, false), false);
  if (!rotation.all_finite()) return result;
  const std::vector<double> values = lapack::symmetric_eigen(rotation);
  const SmallMatrix vectors = lapack::product(basis, false, rotation, false);
  if (values.empty()) return result;
  result.smallest = values.front();
  result.largest = values.back();
  const double size = measure != nullptr ? norm_a : std::max(norm_a, std::abs(result.largest));
  std::vector<double> squares;
  for (int j = 0; j < gram.cols(); ++j) squares.push_back(gram(j, j));
  std::vector<double> flat, suspects;
  for (int j = 0; j < vectors.cols(); ++j) {
    const double* v = vectors.column(j);
    const double value = values[static_cast<std::size_t>(j)];
    const double bound = size * amplification(squares, v);
    Noise noise = noise_of(bound, bound, epsilon);
    noise.likely = noise.proven;
    if (measure != nullptr) noise = noise_of(bound, amplification(measure->scales, v), epsilon);
    if (measure != nullptr)
      noise.likely = std::max(noise.likely, std::min(noise.proven, epsilon * measure->inner));
    const bool negative = noise.exceeded_below(value);
    result.indefinite |= negative;
    const bool vanishing = !negative && value <= noise.likely;
    if (vanishing) flat.insert(flat.end(), v, v + vectors.rows());
    if (vanishing || negative) suspects.insert(suspects.end(), v, v + vectors.rows());
  }
  result.null_directions = columns_from(flat, gram.rows());
  result.suspects = columns_from(suspects, gram.rows());
  return result;
}

}  // namespace block_eigs
