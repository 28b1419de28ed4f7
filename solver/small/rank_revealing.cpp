#include "solver/small/rank_revealing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "solver/small/lapack.hpp"

namespace block_eigs {

namespace {

std::vector<double> unit_scales(const SmallMatrix& gram) {
  std::vector<double> scales;
  for (int j = 0; j < gram.cols(); ++j) scales.push_back(gram(j, j) > 0.0 ? 1.0 / std::sqrt(gram(j, j)) : 0.0);
  return scales;
}

SmallMatrix scaled(const SmallMatrix& gram, const std::vector<double>& scales) {
  SmallMatrix result(gram.rows(), gram.cols());
  for (int j = 0; j < gram.cols(); ++j) {
    for (int i = 0; i < gram.rows(); ++i) {
      result(i, j) = 0.5 * (gram(i, j) + gram(j, i)) * scales[static_cast<std::size_t>(i)] *
                     scales[static_cast<std::size_t>(j)];
    }
  }
  return result;
}

void swap_symmetric(SmallMatrix& matrix, int i, int j) {
  if (i == j) return;
  std::swap_ranges(matrix.column(i), matrix.column(i) + matrix.rows(), matrix.column(j));
  for (int k = 0; k < matrix.cols(); ++k) std::swap(matrix(i, k), matrix(j, k));
}

/// Column `pivot` of the lower factor, and its outer product out of what is left.
void eliminate(SmallMatrix& matrix, int pivot) {
  const double root = std::sqrt(matrix(pivot, pivot));
  matrix(pivot, pivot) = root;
  for (int i = pivot + 1; i < matrix.rows(); ++i) matrix(i, pivot) /= root;
  for (int j = pivot + 1; j < matrix.cols(); ++j) {
    for (int i = pivot + 1; i < matrix.rows(); ++i) matrix(i, j) -= matrix(i, pivot) * matrix(j, pivot);
  }
}

double dot(const SmallMatrix& a, int i, const SmallMatrix& b, int j) {
  return std::inner_product(a.column(i), a.column(i) + a.rows(), b.column(j), 0.0);
}

/// Column j of `vectors` without its components along the columns of `basis`.
void project_out(const SmallMatrix& basis, int count, SmallMatrix& vectors, int j) {
  for (int k = 0; k < count; ++k) {
    const double along = dot(basis, k, vectors, j);
    for (int i = 0; i < vectors.rows(); ++i) vectors(i, j) -= along * basis(i, k);
  }
}

}  // namespace

GramFactor factor_gram(const SmallMatrix& gram, double accept) {
  const int n = gram.cols();
  const std::vector<double> scales = unit_scales(gram);
  SmallMatrix work = scaled(gram, scales);
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  GramFactor result;
  for (; result.independent < n; ++result.independent) {
    const int k = result.independent;
    int pivot = k;
    for (int j = k; j < n; ++j) {
      if (work(j, j) > work(pivot, pivot)) pivot = j;
    }
    if (!(work(pivot, pivot) >= accept)) break;
    swap_symmetric(work, k, pivot);
    std::swap(order[static_cast<std::size_t>(k)], order[static_cast<std::size_t>(pivot)]);
    eliminate(work, k);
  }
  const int k = result.independent;
  result.smallest_pivot = 1.0;
  for (int j = k; j < n; ++j) result.smallest_pivot = std::min(result.smallest_pivot, work(j, j));

  // [V1 V2] = [W1 W2] U with U = [L11^T L21^T; 0 I], columns scaled and in the order of the pivots.
  SmallMatrix lower = SmallMatrix::identity(n);
  for (int j = 0; j < k; ++j) std::copy(work.column(j) + j, work.column(j) + n, lower.column(j) + j);
  SmallMatrix inverse = SmallMatrix::identity(n);
  lapack::solve_lower_transposed(lower, inverse);
  result.transform.resize(n, n);
  result.factor.resize(n, n);
  for (int p = 0; p < n; ++p) {
    const int column = order[static_cast<std::size_t>(p)];
    const double scale =
        scales[static_cast<std::size_t>(column)] > 0.0 ? scales[static_cast<std::size_t>(column)] : 1.0;
    for (int j = 0; j < n; ++j) {
      result.transform(column, j) = scale * inverse(p, j);
      result.factor(j, column) = lower(p, j) / scale;
    }
  }
  return result;
}

SmallMatrix leading_directions(SmallMatrix vectors, double enough) {
  const int most = std::min(vectors.rows(), vectors.cols());
  SmallMatrix basis(vectors.rows(), most);
  std::vector<double> original;
  for (int j = 0; j < vectors.cols(); ++j) original.push_back(std::sqrt(dot(vectors, j, vectors, j)));
  int count = 0;
  for (; count < most; ++count) {
    int longest = 0;
    double length = -1.0;
    double beyond_rounding = 0.0;
    for (int j = 0; j < vectors.cols(); ++j) {
      const double rest = std::sqrt(dot(vectors, j, vectors, j));
      if (rest <= length) continue;
      length = rest;
      longest = j;
      beyond_rounding = 1e-13 * original[static_cast<std::size_t>(j)];
    }
    if (length <= std::max(beyond_rounding, enough)) break;
    project_out(basis, count, vectors, longest);
    const double norm = std::sqrt(dot(vectors, longest, vectors, longest));
    for (int i = 0; i < basis.rows(); ++i) basis(i, count) = vectors(i, longest) / norm;
    for (int j = 0; j < vectors.cols(); ++j) {
      const double along = dot(basis, count, vectors, j);
      for (int i = 0; i < vectors.rows(); ++i) vectors(i, j) -= along * basis(i, count);
    }
  }
  SmallMatrix result(basis.rows(), count);
  std::copy_n(basis.data(), result.values().size(), result.data());
  return result;
}

SmallMatrix inverse_spd(const SmallMatrix& matrix, double epsilon) {
  const int n = matrix.cols();
  const std::vector<double> scales = unit_scales(matrix);
  SmallMatrix lower = scaled(matrix, scales);
  if (!lapack::cholesky(lower)) return {};
  for (int j = 0; j < n; ++j) {
    if (!(lower(j, j) * lower(j, j) > 10.0 * n * epsilon)) return {};
  }
  SmallMatrix root = SmallMatrix::identity(n);
  lapack::solve_lower(lower, root);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) root(i, j) *= scales[static_cast<std::size_t>(j)];
  }
  return lapack::product(root, true, root, false);
}

}  // namespace block_eigs
