#include "solver/small/lowest_by_components.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "solver/small/lapack.hpp"
#include "solver/small/lowest_dense_vectors.hpp"

namespace block_eigs {

namespace {

SmallMatrix block_of(const SmallMatrix& matrix, const std::vector<int>& rows) {
  if (matrix.rows() == 0) return {};
  const auto n = static_cast<int>(rows.size());
  SmallMatrix block(n, n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i)
      block(i, j) = matrix(rows[static_cast<std::size_t>(i)], rows[static_cast<std::size_t>(j)]);
  }
  return block;
}

struct Pair {
  double value;
  std::size_t component;
  int column;
};

/// Rayleigh quotients, which ascend up to rounding errors.
void add_pairs(const SmallMatrix& a, const SmallMatrix& b, const SmallMatrix& vectors, std::size_t component,
               std::vector<Pair>& pairs) {
  const SmallMatrix ax = lapack::product(a, false, vectors, false);
  const SmallMatrix bx = b.rows() > 0 ? lapack::product(b, false, vectors, false) : vectors;
  for (int j = 0; j < vectors.cols(); ++j) {
    double energy = 0.0, mass = 0.0;
    for (int i = 0; i < vectors.rows(); ++i) {
      energy += vectors(i, j) * ax(i, j);
      mass += vectors(i, j) * bx(i, j);
    }
    pairs.push_back({energy / mass, component, j});
  }
}

}  // namespace

std::vector<std::vector<int>> components_of(const SmallMatrix& a, const SmallMatrix& b) {
  const int rows = a.rows();
  std::vector<std::vector<int>> components;
  std::vector<bool> seen(static_cast<std::size_t>(rows), false);
  for (int first = 0; first < rows; ++first) {
    if (seen[static_cast<std::size_t>(first)]) continue;
    seen[static_cast<std::size_t>(first)] = true;
    std::vector<int> found = {first};
    for (std::size_t next = 0; next < found.size(); ++next) {
      const int j = found[next];
      for (int i = first + 1; i < rows; ++i) {
        const bool coupled = a(i, j) != 0.0 || (b.rows() > 0 && b(i, j) != 0.0);
        if (!coupled || seen[static_cast<std::size_t>(i)]) continue;
        seen[static_cast<std::size_t>(i)] = true;
        found.push_back(i);
      }
    }
    std::sort(found.begin(), found.end());
    components.push_back(std::move(found));
  }
  return components;
}

SmallMatrix lowest_by_components(const SmallMatrix& a, const SmallMatrix& b, int count, double tolerance,
                                 double enough) {
  const std::vector<std::vector<int>> components = components_of(a, b);
  if (components.size() <= 1) return lowest_dense_vectors(a, b, count, tolerance, enough);
  std::vector<SmallMatrix> vectors;
  std::vector<Pair> pairs;
  for (std::size_t c = 0; c < components.size(); ++c) {
    const SmallMatrix block_a = block_of(a, components[c]);
    const SmallMatrix block_b = block_of(b, components[c]);
    vectors.push_back(lowest_dense_vectors(block_a, block_b, std::min(count, block_a.rows()), tolerance, enough));
    add_pairs(block_a, block_b, vectors.back(), c, pairs);
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& x, const Pair& y) { return x.value < y.value; });
  SmallMatrix result(a.rows(), count);
  for (int j = 0; j < count; ++j) {
    const Pair& pair = pairs[static_cast<std::size_t>(j)];
    const std::vector<int>& rows = components[pair.component];
    for (std::size_t i = 0; i < rows.size(); ++i)
      result(rows[i], j) = vectors[pair.component](static_cast<int>(i), pair.column);
  }
  return result;
}

}  // namespace block_eigs
