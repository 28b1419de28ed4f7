#include "solver/small/refine_pencil.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "solver/small/lapack.hpp"

namespace block_eigs {

namespace {

using Vector = std::vector<double>;

double dot(const Vector& x, const Vector& y) { return std::inner_product(x.begin(), x.end(), y.begin(), 0.0); }

Vector column(const SmallMatrix& matrix, int j) { return {matrix.column(j), matrix.column(j) + matrix.rows()}; }

Vector multiply(const SmallMatrix& matrix, const Vector& x) {
  Vector y(x.size(), 0.0);
  for (int j = 0; j < matrix.cols(); ++j) {
    const double* entries = matrix.column(j);
    const double factor = x[static_cast<std::size_t>(j)];
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += entries[i] * factor;
  }
  return y;
}

double norm_inf(const SmallMatrix& matrix) {
  Vector sums(static_cast<std::size_t>(matrix.rows()), 0.0);
  for (int j = 0; j < matrix.cols(); ++j) {
    for (int i = 0; i < matrix.rows(); ++i) sums[static_cast<std::size_t>(i)] += std::abs(matrix(i, j));
  }
  return sums.empty() ? 0.0 : *std::max_element(sums.begin(), sums.end());
}

/// A step of inverse iteration where the residual of `x` is beyond rounding errors; false where it is not.
bool improve(const SmallMatrix& a, const SmallMatrix& b, double norm_a, double norm_b, Vector& x) {
  constexpr double roundings = 4.0;
  const Vector ax = multiply(a, x);
  const Vector bx = multiply(b, x);
  const double theta = dot(x, ax) / dot(x, bx);
  Vector residual = ax;
  for (std::size_t i = 0; i < x.size(); ++i) residual[i] -= theta * bx[i];
  const double limit = roundings * std::numeric_limits<double>::epsilon() * (norm_a + std::abs(theta) * norm_b) *
                       std::sqrt(dot(x, x));
  if (!(std::sqrt(dot(residual, residual)) > limit)) return false;
  SmallMatrix shifted = a;
  for (std::size_t i = 0; i < shifted.values().size(); ++i) shifted.values()[i] -= theta * b.values()[i];
  Vector y = bx;
  if (!lapack::solve(shifted, y)) return false;
  const double length = std::sqrt(dot(y, multiply(b, y)));
  if (!(length > 0.0) || !std::isfinite(length)) return false;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = y[i] / length;
  return true;
}

}  // namespace

void refine_pencil(const SmallMatrix& a, const SmallMatrix& b, SmallMatrix& vectors) {
  constexpr int most_steps = 2;
  constexpr int passes = 2;
  const double norm_a = norm_inf(a);
  const double norm_b = norm_inf(b);
  bool improved = false;
  for (int j = 0; j < vectors.cols(); ++j) {
    Vector x = column(vectors, j);
    for (int step = 0; step < most_steps && improve(a, b, norm_a, norm_b, x); ++step) improved = true;
    std::copy(x.begin(), x.end(), vectors.column(j));
  }
  if (!improved) return;
  std::vector<Vector> images;
  for (int j = 0; j < vectors.cols(); ++j) {
    Vector x = column(vectors, j);
    for (int pass = 0; pass < passes; ++pass) {
      for (int i = 0; i < j; ++i) {
        const double along = dot(images[static_cast<std::size_t>(i)], x);
        for (std::size_t k = 0; k < x.size(); ++k) x[k] -= along * vectors.column(i)[k];
      }
      const double length = std::sqrt(dot(x, multiply(b, x)));
      for (double& value : x) value /= length;
    }
    std::copy(x.begin(), x.end(), vectors.column(j));
    images.push_back(multiply(b, x));
  }
}

}  // namespace block_eigs
