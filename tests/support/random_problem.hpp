#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "spmm/small_matrix.hpp"

// Random dense problems that are the same on all ranks.
namespace block_eigs::test {

using Random = std::mt19937_64;

inline double uniform(Random& random, double low, double high) {
  return low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53;
}

/// In [low, high].
inline int whole(Random& random, int low, int high) {
  return low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low + 1));
}

inline SmallMatrix random_matrix(Random& random, int rows, int cols) {
  SmallMatrix result(rows, cols);
  for (double& value : result.values()) value = uniform(random, -1.0, 1.0);
  return result;
}

/// Symmetric positive definite with extreme eigenvalues 1 / condition and 1, the others scattered between them on
/// a logarithmic scale: a diagonal matrix between Householder reflections.
inline SmallMatrix random_spd(Random& random, int n, double condition) {
  SmallMatrix a(n, n);
  for (int i = 0; i < n; ++i) {
    const double place = i == 0 ? 0.0 : i == 1 ? 1.0 : uniform(random, 0.0, 1.0);
    a(i, i) = std::pow(condition, -place);
  }
  for (int reflection = 0; reflection < 3; ++reflection) {
    const SmallMatrix v = random_matrix(random, n, 1);
    double squared = 0.0;
    for (const double value : v.values()) squared += value * value;
    if (squared == 0.0) continue;
    // H A H with H = I - 2 v v^T / v^T v
    std::vector<double> image(static_cast<std::size_t>(n), 0.0);
    double quadratic = 0.0;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) image[static_cast<std::size_t>(i)] += a(i, j) * v(j, 0);
      quadratic += image[static_cast<std::size_t>(i)] * v(i, 0);
    }
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i <= j; ++i) {
        const double mixed =
            v(i, 0) * image[static_cast<std::size_t>(j)] + image[static_cast<std::size_t>(i)] * v(j, 0);
        a(i, j) += -2.0 / squared * mixed + 4.0 * quadratic / (squared * squared) * v(i, 0) * v(j, 0);
        a(j, i) = a(i, j);
      }
    }
  }
  return a;
}

/// n x m, many of the columns zero, equal to others, sums of others, or of other size.
inline SmallMatrix random_sides(Random& random, int n, int m) {
  SmallMatrix f = random_matrix(random, n, m);
  for (int j = 1; j < m; ++j) {
    const int kind = whole(random, 0, 9);
    const int one = whole(random, 0, j - 1);
    const int other = whole(random, 0, j - 1);
    for (int i = 0; i < n; ++i) {
      if (kind == 0) f(i, j) = 0.0;
      if (kind == 1) f(i, j) = f(i, one);
      if (kind == 2) f(i, j) = f(i, one) - 3.0 * f(i, other);
      if (kind == 3) f(i, j) = f(i, one) + 1e-9 * f(i, j);
      if (kind == 4) f(i, j) *= 1e8;
      if (kind == 5) f(i, j) *= 1e-8;
    }
  }
  return f;
}

inline double column_norm(const SmallMatrix& matrix, int j) {
  double squared = 0.0;
  for (int i = 0; i < matrix.rows(); ++i) squared += matrix(i, j) * matrix(i, j);
  return std::sqrt(squared);
}

}  // namespace block_eigs::test
