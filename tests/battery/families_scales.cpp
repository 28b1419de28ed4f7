// Matrices of uncommon size: very small, very large, both in one.
#include <cmath>

#include "tests/battery/families.hpp"

namespace block_eigs::test {

namespace {

/// A member of a family that is not in this file.
DenseMatrix another(Random& random, int n) {
  std::vector<Family> all = graph_families();
  for (const auto& group : {spectral_families(), grid_families()})
    all.insert(all.end(), group.begin(), group.end());
  return all[static_cast<std::size_t>(whole(random, 0, static_cast<int>(all.size()) - 1))].make(random, n);
}

/// Largest entry 1, times `factor`; entries that would vanish do.
DenseMatrix scaled(DenseMatrix a, double factor) {
  double largest = 0.0;
  for (const double value : a.values) largest = std::fmax(largest, std::abs(value));
  for (double& value : a.values) value = largest > 0.0 ? value / largest * factor : 0.0;
  return a;
}

DenseMatrix very_small(Random& random, int n) {
  return scaled(another(random, n), std::pow(10.0, uniform(random, -290.0, -100.0)));
}

DenseMatrix very_large(Random& random, int n) {
  return scaled(another(random, n), std::pow(10.0, uniform(random, 100.0, 290.0)));
}

/// D A D with D over some decades.
DenseMatrix rescaled(Random& random, DenseMatrix a, double decades) {
  std::vector<double> d;
  for (int i = 0; i < a.size; ++i) d.push_back(std::pow(10.0, uniform(random, -0.5 * decades, 0.5 * decades)));
  for (int i = 0; i < a.size; ++i) {
    for (int j = 0; j <= i; ++j) {
      set_both(a, i, j, a(i, j) * (d[static_cast<std::size_t>(i)] * d[static_cast<std::size_t>(j)]));
    }
  }
  return a;
}

DenseMatrix scaled_grid(Random& random, int n) {
  const Family grid = grid_families()[static_cast<std::size_t>(whole(random, 0, 1))];
  return rescaled(random, grid.make(random, n), uniform(random, 1.0, 6.0));
}

/// D A D with D over ten decades: a spectrum over twenty.
DenseMatrix decades_scaled(Random& random, int n) {
  DenseMatrix a(n);
  for (int i = 0; i < n; ++i) {
    a(i, i) = 2.0 + uniform(random, 0.0, 0.5);
    if (i + 1 < n) set_both(a, i, i + 1, -1.0);
  }
  return rescaled(random, a, 10.0);
}

/// Some diagonal entries of 5e-24 among those of a common matrix.
DenseMatrix tiny_diagonal(Random& random, int n) {
  DenseMatrix a =
      whole(random, 0, 1) == 0 ? grid_families()[0].make(random, n) : spectral_families()[10].make(random, n);
  const int count = whole(random, 1, 5);
  for (int c = 0; c < count; ++c) {
    const int i = whole(random, 0, a.size - 1);
    if (whole(random, 0, 1) == 0) {
      for (int j = 0; j < a.size; ++j) set_both(a, i, j, 0.0);
    }
    a(i, i) = 5e-24;
  }
  return a;
}

/// Nothing but a diagonal.
DenseMatrix diagonal(Random& random, int n) {
  DenseMatrix a(n);
  const double decades = uniform(random, 0.0, 8.0);
  const bool indefinite = whole(random, 0, 2) == 0;
  for (int i = 0; i < n; ++i) {
    const double sign = indefinite && whole(random, 0, 1) == 0 ? -1.0 : 1.0;
    a(i, i) = sign * std::pow(10.0, uniform(random, 0.0, decades));
  }
  return a;
}

}  // namespace

std::vector<Family> scaling_families() {
  return {{"very_small", very_small},         {"very_large", very_large},       {"scaled_grid", scaled_grid},
          {"decades_scaled", decades_scaled}, {"tiny_diagonal", tiny_diagonal}, {"diagonal", diagonal}};
}

}  // namespace block_eigs::test
