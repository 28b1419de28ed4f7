// Graphs: stars and arrows, components, hubs.
#include <algorithm>
#include <cmath>

#include "tests/battery/families.hpp"

namespace block_eigs::test {

namespace {

double one(Random&) { return 1.0; }

/// Adjacency or Laplacian, by a coin.
DenseMatrix either(Random& random, const DenseMatrix& adjacency) {
  return whole(random, 0, 1) == 0 ? adjacency : laplacian_of(adjacency);
}

/// Diagonal uniform in 1 .. 2, the first row and column normal.
DenseMatrix arrow(Random& random, int n) {
  DenseMatrix a(n);
  for (int i = 0; i < n; ++i) a(i, i) = uniform(random, 1.0, 2.0);
  for (int i = 1; i < n; ++i) set_both(a, 0, i, normal(random));
  return a;
}

DenseMatrix star_edges(int n) {
  DenseMatrix a(n);
  for (int i = 1; i < n; ++i) set_both(a, 0, i, 1.0);
  return a;
}

DenseMatrix star(Random& random, int n) { return either(random, star_edges(n)); }

DenseMatrix wheel(Random& random, int n) {
  DenseMatrix a = star_edges(n);
  for (int i = 1; i < n && n > 3; ++i) set_both(a, i, i + 1 < n ? i + 1 : 1, 1.0);
  return either(random, a);
}

void join_at_random(Random& random, DenseMatrix& a, int first, int count, int edges) {
  for (int e = 0; e < edges; ++e) {
    const int i = first + whole(random, 0, count - 1);
    const int j = first + whole(random, 0, count - 1);
    if (i != j) set_both(a, i, j, 1.0);
  }
}

/// Laplacian of 2 to 12 random graphs side by side, some of them single vertices: as many zero eigenvalues.
DenseMatrix components(Random& random, int n) {
  DenseMatrix a(n);
  const int parts = std::min(n, whole(random, 2, 12));
  for (int p = 0; p < parts; ++p) {
    const int first = n * p / parts;
    const int count = n * (p + 1) / parts - first;
    for (int i = 1; i < count; ++i) set_both(a, first + i, first + whole(random, 0, i - 1), 1.0);
    join_at_random(random, a, first, count, 2 * count);
  }
  return laplacian_of(a);
}

/// Adjacency between two halves: the spectrum is symmetric about zero.
DenseMatrix bipartite(Random& random, int n) {
  DenseMatrix a(n);
  const int half = std::max(1, n / whole(random, 2, 4));
  for (int e = 0; e < 4 * n && half < n; ++e) {
    set_both(a, whole(random, 0, half - 1), whole(random, half, n - 1), uniform(random, 0.5, 1.5));
  }
  return a;
}

/// Edges of a recursive matrix (R-MAT): few vertices of very many neighbours, many of none.
DenseMatrix rmat_edges(Random& random, int n) {
  DenseMatrix a(n);
  int levels = 1;
  while ((1 << levels) < n) ++levels;
  for (int e = 0; e < 8 * n; ++e) {
    int i = 0;
    int j = 0;
    for (int level = 0; level < levels; ++level) {
      const double place = uniform(random, 0.0, 1.0);
      i = 2 * i + (place > 0.76 ? 1 : 0);
      j = 2 * j + ((place > 0.57 && place <= 0.76) || place > 0.95 ? 1 : 0);
    }
    if (i != j && i < n && j < n) set_both(a, i, j, 1.0);
  }
  return a;
}

DenseMatrix rmat(Random& random, int n) { return rmat_edges(random, n); }
DenseMatrix rmat_laplacian(Random& random, int n) { return laplacian_of(rmat_edges(random, n)); }

/// Laplacian of the graph that joins points of a plane with their nearest neighbours, by weights exp(-d^2).
DenseMatrix nearest_neighbours(Random& random, int n) {
  std::vector<double> x, y;
  for (int i = 0; i < n; ++i) x.push_back(uniform(random, 0.0, 10.0)), y.push_back(uniform(random, 0.0, 10.0));
  const auto distance = [&](int i, int j) {
    const auto p = static_cast<std::size_t>(i);
    const auto q = static_cast<std::size_t>(j);
    return std::hypot(x[p] - x[q], y[p] - y[q]);
  };
  DenseMatrix a(n);
  const int neighbours = std::min(n - 1, whole(random, 2, 8));
  for (int i = 0; i < n; ++i) {
    std::vector<int> order;
    for (int j = 0; j < n; ++j) {
      if (j != i) order.push_back(j);
    }
    std::sort(order.begin(), order.end(), [&](int p, int q) { return distance(i, p) < distance(i, q); });
    for (int k = 0; k < neighbours; ++k) {
      const int j = order[static_cast<std::size_t>(k)];
      set_both(a, i, j, std::exp(-std::pow(distance(i, j), 2)));
    }
  }
  return laplacian_of(a);
}

/// Copies of one small graph that do not touch: every eigenvalue as often as there are copies.
DenseMatrix repeated_blocks(Random& random, int n) {
  const int rows = std::min(n, whole(random, 5, 40));
  DenseMatrix block(rows);
  join_at_random(random, block, 0, rows, 3 * rows);
  block = laplacian_of(block);
  DenseMatrix a(n);
  for (int i = 0; i < n; ++i) {
    for (int j = i / rows * rows; j <= i; ++j) set_both(a, i, j, block(i % rows, j % rows));
    a(i, i) += 0.5;
  }
  return a;
}

/// Laplacian of a path, a cycle or a square grid whose edges are all alike.
DenseMatrix regular_graph(Random& random, int n) {
  const int kind = whole(random, 0, 2);
  if (kind == 2) {
    const int side = std::max(1, static_cast<int>(std::sqrt(n)));
    return laplacian_of(grid_couplings(random, side, side, 1, one));
  }
  DenseMatrix a = grid_couplings(random, n, 1, 1, one);
  if (kind == 1 && n > 2) set_both(a, 0, n - 1, 1.0);
  return laplacian_of(a);
}

}  // namespace

std::vector<Family> graph_families() {
  return {{"arrow", arrow},
          {"star", star},
          {"wheel", wheel},
          {"components", components},
          {"bipartite", bipartite},
          {"rmat", rmat},
          {"rmat_laplacian", rmat_laplacian},
          {"nearest_neighbours", nearest_neighbours},
          {"repeated_blocks", repeated_blocks},
          {"regular_graph", regular_graph}};
}

}  // namespace block_eigs::test
