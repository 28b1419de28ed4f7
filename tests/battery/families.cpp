#include "tests/battery/families.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "spmm/error.hpp"

namespace block_eigs::test {

namespace {

/// Rows and columns i and j turned by an angle.
void rotate(DenseMatrix& a, int i, int j, double angle) {
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  for (int k = 0; k < a.size; ++k) {
    const double x = a(i, k);
    const double y = a(j, k);
    a(i, k) = c * x + s * y;
    a(j, k) = c * y - s * x;
  }
  for (int k = 0; k < a.size; ++k) {
    const double x = a(k, i);
    const double y = a(k, j);
    a(k, i) = c * x + s * y;
    a(k, j) = c * y - s * x;
  }
}

std::vector<Family> gather() {
  std::vector<Family> all;
  for (const auto& group : {graph_families(), spectral_families(), grid_families(), scaling_families()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

}  // namespace

const std::vector<Family>& families() {
  static const std::vector<Family> all = gather();
  return all;
}

int family_index(const std::string& name) {
  const std::vector<Family>& all = families();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Family& family) { return name == family.name; });
  require(found != all.end(), "there is no family '" + name + "'");
  return static_cast<int>(found - all.begin());
}

double normal(Random& random) {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform(random, 0.0, 1.0)));
  return radius * std::cos(2.0 * std::numbers::pi * uniform(random, 0.0, 1.0));
}

DenseMatrix with_spectrum(Random& random, const std::vector<double>& values) {
  const int n = static_cast<int>(values.size());
  DenseMatrix a(n);
  for (int i = 0; i < n; ++i) a(i, i) = values[static_cast<std::size_t>(i)];
  for (int stride = 1; stride < n; stride *= 2) {
    for (int i = 0; i < n; ++i) {
      if ((i & stride) == 0 && i + stride < n) rotate(a, i, i + stride, uniform(random, 0.2, 1.4));
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) a(j, i) = a(i, j);
  }
  return a;
}

void set_both(DenseMatrix& a, int i, int j, double value) { a(i, j) = a(j, i) = value; }

DenseMatrix laplacian_of(const DenseMatrix& adjacency) {
  DenseMatrix result(adjacency.size);
  for (int i = 0; i < result.size; ++i) {
    double degree = 0.0;
    for (int j = 0; j < result.size; ++j) {
      if (i == j) continue;
      degree += adjacency(i, j);
      if (adjacency(i, j) != 0.0) result(i, j) = -adjacency(i, j);
    }
    result(i, i) = degree;
  }
  return result;
}

DenseMatrix grid_couplings(Random& random, int nx, int ny, int nz, double (*weight)(Random&)) {
  DenseMatrix result(nx * ny * nz);
  for (int z = 0; z < nz; ++z) {
    for (int y = 0; y < ny; ++y) {
      for (int x = 0; x < nx; ++x) {
        const int i = x + nx * (y + ny * z);
        if (x + 1 < nx) set_both(result, i, i + 1, weight(random));
        if (y + 1 < ny) set_both(result, i, i + nx, weight(random));
        if (z + 1 < nz) set_both(result, i, i + nx * ny, weight(random));
      }
    }
  }
  return result;
}

const char* name_of(MassKind kind) {
  switch (kind) {
    case MassKind::none:
      return "none";
    case MassKind::diagonal:
      return "diagonal";
    case MassKind::consistent:
      return "consistent";
    case MassKind::ill_conditioned:
      return "ill_conditioned";
    case MassKind::singular:
      return "singular";
    case MassKind::indefinite:
      return "indefinite";
  }
  return "";
}

DenseMatrix make_mass(Random& random, MassKind kind, int n) {
  DenseMatrix b(n);
  if (kind == MassKind::diagonal) {
    const double decades = uniform(random, 0.0, 6.0);
    for (int i = 0; i < n; ++i) b(i, i) = std::pow(10.0, uniform(random, -decades, 0.0));
  } else if (kind == MassKind::consistent) {
    // Linear elements on an interval with nodes at random places.
    for (int i = 0; i <= n; ++i) {
      const double h = uniform(random, 0.2, 2.0);
      if (i > 0) b(i - 1, i - 1) += h / 3.0;
      if (i < n) b(i, i) += h / 3.0;
      if (i > 0 && i < n) set_both(b, i - 1, i, h / 6.0);
    }
  } else {
    const double condition = std::pow(10.0, uniform(random, 1.0, 10.0));
    std::vector<double> values;
    for (int i = 0; i < n; ++i) {
      const double place = i == 0 ? 0.0 : i == 1 ? 1.0 : uniform(random, 0.0, 1.0);
      values.push_back(std::pow(condition, -place));
    }
    if (kind == MassKind::singular) values.back() = 0.0;
    if (kind == MassKind::indefinite) values.back() = -0.01;
    b = with_spectrum(random, values);
  }
  return b;
}

}  // namespace block_eigs::test
