// Matrices made for their spectrum: clusters, multiplicities, outliers, low rank.
#include <algorithm>
#include <cmath>

#include "tests/battery/families.hpp"

namespace block_eigs::test {

namespace {

/// Spectrum in 1 .. 2 but for one to three eigenvalues far away on one side or both.
DenseMatrix outliers(Random& random, int n) {
  std::vector<double> values;
  for (int i = 0; i < n; ++i) values.push_back(uniform(random, 1.0, 2.0));
  const int count = std::min(n, whole(random, 1, 3));
  for (int i = 0; i < count; ++i) {
    const double size = std::pow(10.0, uniform(random, 1.0, 10.0));
    values[static_cast<std::size_t>(i)] = whole(random, 0, 3) == 0 ? -size : size;
  }
  return with_spectrum(random, values);
}

/// exp(-d^2 / 2 s^2) of random points: positive definite, nearly all eigenvalues nearly zero.
DenseMatrix kernel(Random& random, int n) {
  std::vector<double> x, y;
  for (int i = 0; i < n; ++i) x.push_back(uniform(random, 0.0, 1.0)), y.push_back(uniform(random, 0.0, 1.0));
  const double scale = std::pow(10.0, uniform(random, -1.5, 0.0));
  DenseMatrix a(n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j <= i; ++j) {
      const auto p = static_cast<std::size_t>(i);
      const auto q = static_cast<std::size_t>(j);
      const double squared = std::pow(x[p] - x[q], 2) + std::pow(y[p] - y[q], 2);
      const double value = std::exp(-0.5 * squared / (scale * scale));
      if (value > 1e-300) set_both(a, i, j, value);
    }
  }
  return a;
}

/// Clusters of 2 to 10 eigenvalues that differ by 1e-8.
DenseMatrix clustered(Random& random, int n) {
  std::vector<double> values;
  double centre = uniform(random, -1.0, 1.0);
  while (static_cast<int>(values.size()) < n) {
    const int count = whole(random, 2, 10);
    for (int i = 0; i < count; ++i) values.push_back(centre * (1.0 + 1e-8 * i));
    centre += uniform(random, 0.05, 0.5);
  }
  values.resize(static_cast<std::size_t>(n));
  return with_spectrum(random, values);
}

/// An eigenvalue that is there 50 times at either end or in between.
DenseMatrix multiple(Random& random, int n) {
  std::vector<double> values;
  for (int i = 0; i < n; ++i) values.push_back(uniform(random, 1.0, 10.0));
  const double place = whole(random, 0, 2) == 0 ? 1.0 : whole(random, 0, 1) == 0 ? 10.0 : 1.2;
  for (int i = 0; i < std::min(50, n); ++i) values[static_cast<std::size_t>(i)] = place;
  return with_spectrum(random, values);
}

/// Wilkinson's W21+ many times over, joined by weak couplings: pairs that agree to nearly all digits.
DenseMatrix wilkinson(Random& random, int n) {
  const double glue = std::pow(10.0, uniform(random, -14.0, -2.0));
  DenseMatrix a(n);
  for (int i = 0; i < n; ++i) {
    a(i, i) = std::abs(i % 21 - 10);
    if (i + 1 < n) set_both(a, i, i + 1, i % 21 == 20 ? glue : 1.0);
  }
  return a;
}

/// X diag(+-) X^T of rank 3 to 30.
DenseMatrix low_rank(Random& random, int n) {
  const int rank = std::min(n, whole(random, 3, 30));
  const bool indefinite = whole(random, 0, 1) == 0;
  DenseMatrix a(n);
  for (int r = 0; r < rank; ++r) {
    std::vector<double> x;
    for (int i = 0; i < n; ++i) x.push_back(normal(random));
    const double sign = indefinite && whole(random, 0, 1) == 0 ? -1.0 : 1.0;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j <= i; ++j) {
        set_both(a, i, j, a(i, j) + sign * x[static_cast<std::size_t>(i)] * x[static_cast<std::size_t>(j)]);
      }
    }
  }
  return a;
}

DenseMatrix toeplitz(Random& random, int n) {
  const double diagonal = whole(random, 0, 1) == 0 ? 2.0 : uniform(random, -2.0, 2.0);
  DenseMatrix a(n);
  for (int i = 0; i < n; ++i) {
    a(i, i) = diagonal;
    if (i + 1 < n) set_both(a, i, i + 1, -1.0);
  }
  return a;
}

DenseMatrix identity_times(Random& random, int n) {
  const double value =
      whole(random, 0, 1) == 0 ? 1.0 : normal(random) * std::pow(10.0, uniform(random, -5.0, 5.0));
  DenseMatrix a(n);
  for (int i = 0; i < n; ++i) a(i, i) = value;
  return a;
}

DenseMatrix zero(Random&, int n) { return DenseMatrix(n); }

/// 1 to 5 rows.
DenseMatrix tiny(Random& random, int) {
  DenseMatrix a(whole(random, 1, 5));
  for (int i = 0; i < a.size; ++i) {
    for (int j = 0; j <= i; ++j) set_both(a, i, j, normal(random));
  }
  return a;
}

DenseMatrix sparse_indefinite(Random& random, int n) {
  DenseMatrix a(n);
  for (int i = 0; i < n; ++i) a(i, i) = normal(random);
  for (int e = 0; e < 5 * n; ++e) {
    set_both(a, whole(random, 0, n - 1), whole(random, 0, n - 1), uniform(random, -1.0, 1.0));
  }
  return a;
}

/// Diagonally dominant.
DenseMatrix sparse_spd(Random& random, int n) {
  DenseMatrix a(n);
  for (int e = 0; e < 5 * n; ++e) {
    set_both(a, whole(random, 0, n - 1), whole(random, 0, n - 1), uniform(random, -1.0, 1.0));
  }
  for (int i = 0; i < n; ++i) {
    double sum = 0.0;
    for (int j = 0; j < n; ++j) sum += i == j ? 0.0 : std::abs(a(i, j));
    a(i, i) = sum + uniform(random, 0.01, 1.0);
  }
  return a;
}

/// Normal entries everywhere: a semicircle.
DenseMatrix dense_normal(Random& random, int n) {
  DenseMatrix a(n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j <= i; ++j) set_both(a, i, j, normal(random));
  }
  return a;
}

/// Every eigenvalue negative, those of random_spd with the sign turned.
DenseMatrix negative_definite(Random& random, int n) {
  DenseMatrix a = sparse_spd(random, n);
  for (double& value : a.values) value = -value;
  return a;
}

/// Spectrum over 20 decades, all entries of the size of the largest.
DenseMatrix decades_rotated(Random& random, int n) {
  std::vector<double> values;
  for (int i = 0; i < n; ++i) values.push_back(std::pow(10.0, uniform(random, -10.0, 10.0)));
  return with_spectrum(random, values);
}

}  // namespace

std::vector<Family> spectral_families() {
  return {{"outliers", outliers},
          {"kernel", kernel},
          {"clustered", clustered},
          {"multiple", multiple},
          {"wilkinson", wilkinson},
          {"low_rank", low_rank},
          {"toeplitz", toeplitz},
          {"identity", identity_times},
          {"zero", zero},
          {"tiny", tiny},
          {"sparse_indefinite", sparse_indefinite},
          {"sparse_spd", sparse_spd},
          {"dense_normal", dense_normal},
          {"negative_definite", negative_definite},
          {"decades_rotated", decades_rotated}};
}

}  // namespace block_eigs::test
