#include "solver/small/curvature.hpp"

#include <algorithm>
#include <cmath>

#include "solver/small/lapack.hpp"

namespace block_eigs {

namespace {

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

/// Bound of v^T (S^T S) v with signs taken away: how much larger rounding errors in S^T A S get.
double amplification(const SmallMatrix& gram, const double* v) {
  double sum = 0.0;
  for (int i = 0; i < gram.cols(); ++i) sum += std::abs(v[i]) * std::sqrt(std::max(gram(i, i), 0.0));
  return sum * sum;
}

}  // namespace

Curvature examine_curvature(const SmallMatrix& products, double norm_a, double epsilon) {
  const SmallMatrix projected = half_of(products, 0);
  const SmallMatrix gram = half_of(products, products.rows());
  const SmallMatrix basis = orthonormal_coordinates(gram);
  SmallMatrix rotation = lapack::product(basis, true, lapack::product(projected, false, basis, false), false);
  const std::vector<double> values = lapack::symmetric_eigen(rotation);
  const SmallMatrix vectors = lapack::product(basis, false, rotation, false);
  Curvature result;
  result.null_directions.resize(gram.rows(), 0);
  if (values.empty()) return result;
  result.smallest = values.front();
  result.largest = values.back();
  const double rounding = 10.0 * epsilon * std::max(norm_a, std::abs(result.largest));
  std::vector<double> flat;
  for (int j = 0; j < vectors.cols(); ++j) {
    const double noise = rounding * amplification(gram, vectors.column(j));
    const double value = values[static_cast<std::size_t>(j)];
    if (value < -noise) result.indefinite = true;
    if (std::abs(value) <= noise) flat.insert(flat.end(), vectors.column(j), vectors.column(j) + vectors.rows());
  }
  if (flat.empty()) return result;
  result.null_directions.resize(gram.rows(), static_cast<int>(flat.size()) / gram.rows());
  std::copy(flat.begin(), flat.end(), result.null_directions.data());
  return result;
}

}  // namespace block_eigs
