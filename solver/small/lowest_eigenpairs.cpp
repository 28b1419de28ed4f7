#include "solver/small/lowest_eigenpairs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "solver/small/lapack.hpp"

namespace block_eigs {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

template <class Values>
bool is_finite(const Values& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

/// (x, y) <- (c x - s y, s x + c y), columns of `stride` elements.
void rotate(double* x, double* y, int stride, double c, double s) {
  constexpr int pack = PaddedMatrix::pack;
  for (int i = 0; i < stride; i += pack) {
#pragma omp simd
    for (int l = i; l < i + pack; ++l) {
      const double xl = x[l];
      const double yl = y[l];
      x[l] = c * xl - s * yl;
      y[l] = s * xl + c * yl;
    }
  }
}

/// Q^T A Q = T, with more and more of T diagonal.
struct Reduction {
  Tridiagonal t;
  PaddedMatrix q;
  double negligible = 0.0;  ///< what may be taken for zero beside the diagonal: a rounding error of the norm
};

double& diagonal(Reduction& r, int i) { return r.t.diagonal[static_cast<std::size_t>(i)]; }
double& beside(Reduction& r, int i) { return r.t.beside[static_cast<std::size_t>(i)]; }

/// T <- 2^exponent T
void scale(Tridiagonal& t, int exponent) {
  for (double& d : t.diagonal) d = std::ldexp(d, exponent);
  for (double& e : t.beside) e = std::ldexp(e, exponent);
}

/// One sweep of QL with implicit shift over rows [first, last], from the last one up (Martin, Wilkinson, Numer.
/// Math. 12, 1968, imtql2).
void sweep(Reduction& r, int first, int last, double shift) {
  double g = diagonal(r, last) - shift;
  double s = 1.0;
  double c = 1.0;
  double p = 0.0;
  for (int i = last - 1; i >= first; --i) {
    const double f = s * beside(r, i);
    const double b = c * beside(r, i);
    double length = std::sqrt(f * f + g * g);
    if (length < 1e-140) {  // squares have left the range of normal numbers
      const double large_f = 0x1p500 * f;
      const double large_g = 0x1p500 * g;
      length = 0x1p-500 * std::sqrt(large_f * large_f + large_g * large_g);
    }
    beside(r, i + 1) = length;
    if (length == 0.0) {  // T has come apart here
      diagonal(r, i + 1) -= p;
      beside(r, last) = 0.0;
      return;
    }
    s = f / length;
    c = g / length;
    g = diagonal(r, i + 1) - p;
    const double h = (diagonal(r, i) - g) * s + 2.0 * c * b;
    p = s * h;
    diagonal(r, i + 1) = g + p;
    g = c * h - b;
    rotate(r.q.column(i), r.q.column(i + 1), r.q.stride, c, s);
  }
  diagonal(r, first) -= p;
  beside(r, first) = g;
  beside(r, last) = 0.0;
}

/// Wilkinson's shift for the first of the rows.
double shift_of(Reduction& r, int first) {
  const double e = beside(r, first);
  const double half = 0.5 * (diagonal(r, first + 1) - diagonal(r, first));
  const double root = std::sqrt(half * half + e * e);
  return diagonal(r, first) - (half != 0.0 || e != 0.0 ? e * (e / (half + std::copysign(root, half))) : 0.0);
}

/// Beside its neighbours on the diagonal, so that small eigenvalues of graded matrices are as good as rotations
/// leave them; where that does not come, `strict` no more, beside the norm.
bool is_negligible(Reduction& r, int i, bool strict = true) {
  const double size = std::abs(beside(r, i));
  const double neighbours = std::abs(diagonal(r, i)) + std::abs(diagonal(r, i + 1));
  return size <= 0.5 * epsilon * neighbours || (!strict && size <= r.negligible);
}

/// The last row of the part of T that begins with row `first`.
int end_of_part(Reduction& r, int first) {
  int last = first;
  while (last + 1 < r.t.rows() && !is_negligible(r, last)) ++last;
  beside(r, last) = 0.0;
  return last;
}

/// Takes the value in the list that is nearest out of it.
void take_nearest(std::vector<double>& values, double value) {
  if (values.empty()) return;
  const auto nearer = [&](double a, double b) { return std::abs(a - value) < std::abs(b - value); };
  values.erase(std::min_element(values.begin(), values.end(), nearer));
}

/// Sweeps until every eigenvalue below `cut`, of which `expected` holds approximations, stands alone on the
/// diagonal; returns their rows, maybe among others. Nothing where they take too long.
std::optional<std::vector<int>> isolate(Reduction& r, double cut, std::vector<double> expected) {
  constexpr int most_sweeps = 30;
  constexpr int strict_sweeps = 3;
  std::vector<int> found;
  int last = -1;    // row of the part that is at work
  int missing = 0;  // eigenvalues below the cut in it
  int sweeps = 0;
  const auto begin_part = [&](int row) {
    last = end_of_part(r, row);
    missing = eigenvalues_below(r.t, row, last + 1, cut);
  };
  for (int row = 0; row < r.t.rows();) {
    if (row > last) begin_part(row);
    if (missing <= 0) {
      row = last + 1;
    } else if (row == last || is_negligible(r, row, sweeps < strict_sweeps)) {
      found.push_back(row);
      take_nearest(expected, diagonal(r, row));
      if (diagonal(r, row) < cut) --missing;
      beside(r, row) = 0.0;
      sweeps = 0;
      ++row;
    } else if (end_of_part(r, row) != last) {
      begin_part(row);
    } else if (sweeps == most_sweeps) {
      return std::nullopt;
    } else {
      sweep(r, row, last, sweeps == 0 && !expected.empty() ? expected.front() : shift_of(r, row));
      ++sweeps;
    }
  }
  return found;
}

/// The `count` smallest of the eigenvalues that stand alone in these rows, and all else behind them.
LowestEigenpairs collect(Reduction& r, std::vector<int> rows, int count) {
  const int n = r.t.rows();
  std::stable_sort(rows.begin(), rows.end(), [&](int i, int j) { return diagonal(r, i) < diagonal(r, j); });
  rows.resize(static_cast<std::size_t>(count));
  LowestEigenpairs result;
  result.vectors.resize(n, count);
  result.others.resize(n, n - count);
  std::vector<bool> taken(static_cast<std::size_t>(n), false);
  for (int j = 0; j < count; ++j) {
    const int row = rows[static_cast<std::size_t>(j)];
    taken[static_cast<std::size_t>(row)] = true;
    result.values.push_back(diagonal(r, row));
    std::copy_n(r.q.column(row), n, result.vectors.column(j));
  }
  // Neighbours stay neighbours: between them there were rows that stood alone.
  for (int row = 0, j = 0; row < n; ++row) {
    if (taken[static_cast<std::size_t>(row)]) continue;
    result.projected.diagonal.push_back(diagonal(r, row));
    result.projected.beside.push_back(beside(r, row));
    std::copy_n(r.q.column(row), n, result.others.column(j++));
  }
  return result;
}

/// V (3 I - V^T V) / 2: what hundreds of rotations have left of orthonormality in V is squared (Bjorck and Bowie,
/// SIAM J. Numer. Anal. 8, 1971).
void make_orthonormal(SmallMatrix& v) {
  SmallMatrix factor = lapack::product(v, true, v, false);
  for (int j = 0; j < factor.cols(); ++j) {
    for (int i = 0; i < factor.rows(); ++i) factor(i, j) = (i == j ? 1.5 : 0.0) - 0.5 * factor(i, j);
  }
  v = lapack::product(v, false, factor, false);
}

LowestEigenpairs by_lapack(SmallMatrix a, int count) {
  const int n = a.rows();
  const std::vector<double> values = lapack::symmetric_eigen(a);
  LowestEigenpairs result;
  result.vectors.resize(n, count);
  result.others.resize(n, n - count);
  std::copy_n(a.data(), result.vectors.values().size(), result.vectors.data());
  std::copy_n(a.data() + result.vectors.values().size(), result.others.values().size(), result.others.data());
  result.values.assign(values.begin(), values.begin() + count);
  result.projected.diagonal.assign(values.begin() + count, values.end());
  result.projected.beside.assign(result.projected.diagonal.size(), 0.0);
  return result;
}

}  // namespace

LowestEigenpairs lowest_eigenpairs(SmallMatrix a, int count) {
  constexpr int most_rows = 256;  // LAPACK's blocks and its division pay beyond
  const int n = a.rows();
  const auto values = std::as_const(a).values();
  if (!is_finite(values) || n > most_rows) return by_lapack(std::move(a), count);
  Reduction r;
  r.t = tridiagonalise(a, r.q);
  const double norm = norm_inf(r.t);
  if (!std::isfinite(norm) || !is_finite(r.t.diagonal) || !is_finite(r.t.beside))
    return by_lapack(std::move(a), count);
  const int exponent = norm > 0.0 ? std::ilogb(norm) : 0;
  scale(r.t, -exponent);  // so that squares stay in the range of numbers
  r.negligible = epsilon * std::ldexp(norm, -exponent);
  std::vector<double> expected = smallest_eigenvalues(r.t, count);
  const double cut = expected.empty() ? 0.0 : expected.back() + 4.0 * n * r.negligible;
  const auto rows = count > 0 ? isolate(r, cut, std::move(expected)) : std::vector<int>();
  scale(r.t, exponent);
  if (!rows || static_cast<int>(rows->size()) < count) return by_lapack(std::move(a), count);
  LowestEigenpairs found = collect(r, *rows, count);
  make_orthonormal(found.vectors);
  return found;
}

}  // namespace block_eigs
