// Grids and meshes: diffusion, elasticity-like stiffness, Hamiltonians.
#include <algorithm>
#include <cmath>

#include "tests/battery/families.hpp"

namespace block_eigs::test {

namespace {

double one(Random&) { return 1.0; }
double mild(Random& random) { return uniform(random, 0.1, 2.0); }
double wild(Random& random) { return std::pow(10.0, uniform(random, -3.0, 3.0)); }

int side_of(int n, int dimensions) { return std::max(1, static_cast<int>(std::pow(n, 1.0 / dimensions) + 1e-9)); }

/// Zero outside: every point at the border is bound to it by `weight`.
void bind_border(DenseMatrix& a, int nx, int ny, int nz, double weight) {
  for (int i = 0; i < a.size; ++i) {
    const int x = i % nx;
    const int y = i / nx % ny;
    const int z = i / nx / ny;
    const int missing = (x == 0) + (x + 1 == nx) + (ny > 1 ? (y == 0) + (y + 1 == ny) : 0) +
                        (nz > 1 ? (z == 0) + (z + 1 == nz) : 0);
    a(i, i) += weight * missing;
  }
}

DenseMatrix grid(Random& random, int nx, int ny, int nz, double (*weight)(Random&)) {
  DenseMatrix a = laplacian_of(grid_couplings(random, nx, ny, nz, weight));
  bind_border(a, nx, ny, nz, weight(random));
  return a;
}

DenseMatrix grid2d(Random& random, int n) {
  const int nx = side_of(n, 2);
  return grid(random, nx, n / nx, 1, whole(random, 0, 1) == 0 ? mild : wild);
}

DenseMatrix grid3d(Random& random, int n) {
  const int nx = side_of(n, 3);
  const int ny = side_of(n / nx, 2);
  return grid(random, nx, ny, n / nx / ny, whole(random, 0, 1) == 0 ? mild : wild);
}

/// Adds the stiffness of the triangle (i, j, k) with corners at the given places.
struct Point {
  double x, y;
};

void add_triangle(DenseMatrix& a, const std::vector<Point>& points, const int (&corner)[3]) {
  const auto at = [&](int k) { return points[static_cast<std::size_t>(corner[k % 3])]; };
  const double area2 =
      std::abs((at(1).x - at(0).x) * (at(2).y - at(0).y) - (at(2).x - at(0).x) * (at(1).y - at(0).y));
  for (int p = 0; p < 3; ++p) {
    for (int q = 0; q <= p; ++q) {
      const double dot = (at(p + 2).x - at(p + 1).x) * (at(q + 2).x - at(q + 1).x) +
                         (at(p + 2).y - at(p + 1).y) * (at(q + 2).y - at(q + 1).y);
      const double value = a(corner[p], corner[q]) + dot / (2.0 * area2);
      set_both(a, corner[p], corner[q], value);
    }
  }
}

/// Linear triangles on a mesh that is stretched by up to 1e3, with nodes moved about; some rows are bound.
DenseMatrix stretched_mesh(Random& random, int n) {
  const int nx = std::max(2, side_of(n, 2));
  const int ny = std::max(2, n / nx);
  const double stretch = std::pow(10.0, uniform(random, 0.0, 3.0));
  std::vector<Point> points;
  for (int i = 0; i < nx * ny; ++i) {
    const int row = i / nx;
    points.push_back({(i % nx + uniform(random, -0.2, 0.2)) / stretch, row + uniform(random, -0.2, 0.2)});
  }
  DenseMatrix a(nx * ny);
  for (int y = 0; y + 1 < ny; ++y) {
    for (int x = 0; x + 1 < nx; ++x) {
      const int i = x + nx * y;
      add_triangle(a, points, {i, i + 1, i + nx});
      add_triangle(a, points, {i + 1, i + nx + 1, i + nx});
    }
  }
  for (int x = 0; x < nx; ++x) a(x, x) += a(x, x);
  return a;
}

/// A stiffness matrix with entries up to 1e9, and rows that stand alone with the eigenvalue 1.
DenseMatrix lone_rows(Random& random, int n) {
  DenseMatrix a = stretched_mesh(random, n);
  const double size = std::pow(10.0, uniform(random, 6.0, 9.5));
  for (double& value : a.values) value *= size;
  const int count = std::min(a.size / 4, whole(random, 1, 60));
  for (int c = 0; c < count; ++c) {
    const int i = whole(random, 0, a.size - 1);
    for (int j = 0; j < a.size; ++j) set_both(a, i, j, 0.0);
    a(i, i) = 1.0;
  }
  return a;
}

DenseMatrix squared(const DenseMatrix& a) {
  DenseMatrix result(a.size);
  for (int i = 0; i < a.size; ++i) {
    for (int k = 0; k < a.size; ++k) {
      const double factor = a(i, k);
      if (factor == 0.0) continue;
      for (int j = 0; j <= i; ++j) result(i, j) += factor * a(k, j);
    }
  }
  for (int i = 0; i < a.size; ++i) {
    for (int j = 0; j < i; ++j) result(j, i) = result(i, j);
  }
  return result;
}

/// The square of a Laplacian: of a bar or of a plate.
DenseMatrix biharmonic(Random& random, int n) {
  const int nx = whole(random, 0, 1) == 0 ? n : side_of(n, 2);
  return squared(grid(random, nx, n / nx, 1, one));
}

/// Laplacian and a potential of wells: several negative eigenvalues.
DenseMatrix hamiltonian(Random& random, int n) {
  const int nx = side_of(n, 2);
  DenseMatrix a = grid(random, nx, n / nx, 1, one);
  const double depth = std::pow(10.0, uniform(random, -0.5, 1.0));
  for (int i = 0; i < a.size; ++i) a(i, i) -= uniform(random, 0.0, depth);
  return a;
}

/// Hopping on a square grid, energies at random: eigenvectors that live in few places.
DenseMatrix anderson(Random& random, int n) {
  const int nx = side_of(n, 2);
  DenseMatrix a = grid_couplings(random, nx, n / nx, 1, one);
  const double disorder = uniform(random, 1.0, 12.0);
  for (int i = 0; i < a.size; ++i) a(i, i) = uniform(random, -disorder, disorder);
  return a;
}

/// A grid whose points stand free: the constant is an eigenvector of zero.
DenseMatrix free_grid(Random& random, int n) {
  const int nx = side_of(n, 2);
  return laplacian_of(grid_couplings(random, nx, n / nx, 1, mild));
}

/// [K C; C' 0], K a grid: as many negative eigenvalues as constraints.
DenseMatrix saddle_point(Random& random, int n) {
  const int constraints = std::max(1, n / 5);
  const int nx = side_of(n - constraints, 2);
  const int ny = std::max(1, n - constraints) / nx;
  const DenseMatrix k = grid(random, nx, ny, 1, mild);
  DenseMatrix a(k.size + constraints);
  for (int i = 0; i < k.size; ++i) {
    for (int j = 0; j <= i; ++j) set_both(a, i, j, k(i, j));
  }
  for (int c = 0; c < constraints; ++c) {
    for (int e = 0; e < 3; ++e) set_both(a, k.size + c, whole(random, 0, k.size - 1), uniform(random, -1.0, 1.0));
  }
  return a;
}

}  // namespace

std::vector<Family> grid_families() {
  return {{"grid2d", grid2d},       {"grid3d", grid3d},         {"stretched_mesh", stretched_mesh},
          {"lone_rows", lone_rows}, {"biharmonic", biharmonic}, {"hamiltonian", hamiltonian},
          {"anderson", anderson},   {"free_grid", free_grid},   {"saddle_point", saddle_point}};
}

}  // namespace block_eigs::test
