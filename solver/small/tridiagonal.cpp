#include "solver/small/tridiagonal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace block_eigs {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

constexpr int pack = PaddedMatrix::pack;
/// Columns that are gone through side by side, so that vectors are read once for all of them.
constexpr int group = 4;

/// A pack of partial sums, whose order does not depend on the processor.
struct PartialSums {
  alignas(64) double parts[pack] = {};

  void add_products(const double* x, const double* y) {
#pragma omp simd
    for (int l = 0; l < pack; ++l) parts[l] += x[l] * y[l];
  }
  double total() const {
    return ((parts[0] + parts[4]) + (parts[2] + parts[6])) + ((parts[1] + parts[5]) + (parts[3] + parts[7]));
  }
};

/// Of elements [begin, end), both of them multiples of packs, as in all that follows.
double dot(const double* x, const double* y, int begin, int end) {
  PartialSums sums;
  for (int i = begin; i < end; i += pack) sums.add_products(x + i, y + i);
  return sums.total();
}

/// x = (I - tau v v^T) x = (0, ..., 0, beta, 0, ...) with v_first = 1 and zeros before it.
struct Reflection {
  double tau = 0.0;
  double beta = 0.0;
};

/// As LAPACK's dlarfg, for what x holds from `first` on; v takes the place of x.
Reflection make_reflection(double* x, int first, int stride) {
  const int begin = first / pack * pack;
  const double head = x[first];
  std::fill(x + begin, x + first + 1, 0.0);
  double largest = 0.0;
  for (int i = begin; i < stride; ++i) largest = std::max(largest, std::abs(x[i]));
  if (largest == 0.0) {
    x[first] = 1.0;
    return {0.0, head};
  }
  // Squares of what is very small or large leave the range of numbers.
  const double scale = std::ldexp(1.0, -std::ilogb(std::max(largest, std::abs(head))));
  for (int i = begin; i < stride; ++i) x[i] *= scale;
  const double scaled = head * scale;
  const double beta = -std::copysign(std::sqrt(scaled * scaled + dot(x, x, begin, stride)), scaled);
  const double factor = 1.0 / (scaled - beta);
  for (int i = begin; i < stride; ++i) x[i] *= factor;
  x[first] = 1.0;
  return {(beta - scaled) / beta, beta / scale};
}

/// y = A x from columns [first, n) of A.
void multiply(const PaddedMatrix& a, const double* x, int first, int n, double* y) {
  const int begin = first / pack * pack;
  const int stride = a.stride;
  std::fill(y + begin, y + stride, 0.0);
  int j = first;
  for (; j + group <= n; j += group) {
    const double* const c = a.column(j);
    const double x0 = x[j], x1 = x[j + 1], x2 = x[j + 2], x3 = x[j + 3];
    for (int i = begin; i < stride; i += pack) {
#pragma omp simd
      for (int l = i; l < i + pack; ++l)
        y[l] += (c[l] * x0 + c[l + stride] * x1) + (c[l + 2 * stride] * x2 + c[l + 3 * stride] * x3);
    }
  }
  for (; j < n; ++j) {
    const double* const c = a.column(j);
    for (int i = begin; i < stride; i += pack) {
#pragma omp simd
      for (int l = i; l < i + pack; ++l) y[l] += c[l] * x[j];
    }
  }
}

/// A -= v w^T + w v^T in columns [first, n), v and w being zero before `first`.
void take_off(PaddedMatrix& a, const double* v, const double* w, int first, int n) {
  const int begin = first / pack * pack;
  const int stride = a.stride;
  int j = first;
  for (; j + 1 < n; j += 2) {
    double* const c = a.column(j);
    const double v0 = v[j], w0 = w[j], v1 = v[j + 1], w1 = w[j + 1];
    for (int i = begin; i < stride; i += pack) {
#pragma omp simd
      for (int l = i; l < i + pack; ++l) {
        c[l] -= v[l] * w0 + w[l] * v0;
        c[l + stride] -= v[l] * w1 + w[l] * v1;
      }
    }
  }
  if (j == n) return;
  double* const c = a.column(j);
  for (int i = begin; i < stride; ++i) c[i] -= v[i] * w[j] + w[i] * v[j];
}

/// A -= tau v (v^T A) in columns [first, n), v being zero before `first`.
void reflect(PaddedMatrix& a, const double* v, double tau, int first, int n) {
  const int begin = first / pack * pack;
  const int stride = a.stride;
  int j = first;
  for (; j + group <= n; j += group) {
    double* const c = a.column(j);
    PartialSums sums[group];
    for (int i = begin; i < stride; i += pack) {
      for (int k = 0; k < group; ++k) sums[k].add_products(v + i, a.column(j + k) + i);
    }
    const double s0 = tau * sums[0].total(), s1 = tau * sums[1].total();
    const double s2 = tau * sums[2].total(), s3 = tau * sums[3].total();
    for (int i = begin; i < stride; i += pack) {
#pragma omp simd
      for (int l = i; l < i + pack; ++l) {
        c[l] -= s0 * v[l];
        c[l + stride] -= s1 * v[l];
        c[l + 2 * stride] -= s2 * v[l];
        c[l + 3 * stride] -= s3 * v[l];
      }
    }
  }
  for (; j < n; ++j) {
    double* const c = a.column(j);
    const double s = tau * dot(v, c, begin, stride);
    for (int i = begin; i < stride; ++i) c[i] -= s * v[i];
  }
}

}  // namespace

Tridiagonal tridiagonalise(const SmallMatrix& a, PaddedMatrix& q) {
  const int n = a.rows();
  const auto size = static_cast<std::size_t>(n);
  PaddedMatrix rest(n, n);
  for (int j = 0; j < n; ++j) {
    std::copy(a.column(j) + j, a.column(j) + n, rest.column(j) + j);
    for (int i = 0; i < j; ++i) rest.column(j)[i] = a(j, i);
  }
  Tridiagonal t{AlignedVector<double>(size), AlignedVector<double>(size)};
  std::vector<double> taus(size);
  AlignedVector<double> w(static_cast<std::size_t>(rest.stride));
  for (int k = 0; k + 1 < n; ++k) {
    const auto at = static_cast<std::size_t>(k);
    double* const v = rest.column(k);
    t.diagonal[at] = v[k];
    const Reflection found = make_reflection(v, k + 1, rest.stride);
    t.beside[at] = found.beta;
    taus[at] = found.tau;
    if (found.tau == 0.0) continue;
    const int begin = (k + 1) / pack * pack;
    multiply(rest, v, k + 1, n, w.data());
    const double half = 0.5 * found.tau * found.tau * dot(v, w.data(), begin, rest.stride);
    for (int i = begin; i < rest.stride; ++i) {
      const auto row = static_cast<std::size_t>(i);
      w[row] = i > k ? found.tau * w[row] - half * v[i] : 0.0;
    }
    take_off(rest, v, w.data(), k + 1, n);
  }
  if (n > 0) t.diagonal[size - 1] = rest.column(n - 1)[n - 1];
  q = PaddedMatrix(n, n);
  for (int j = 0; j < n; ++j) q.column(j)[j] = 1.0;
  for (int k = n - 2; k >= 0; --k) reflect(q, rest.column(k), taus[static_cast<std::size_t>(k)], k + 1, n);
  return t;
}

double norm_inf(const Tridiagonal& t) {
  double most = 0.0;
  for (std::size_t i = 0; i < t.diagonal.size(); ++i) {
    const double before = i > 0 ? std::abs(t.beside[i - 1]) : 0.0;
    most = std::max(most, std::abs(t.diagonal[i]) + before + std::abs(t.beside[i]));
  }
  return most;
}

int eigenvalues_below(const Tridiagonal& t, int first, int end, double limit) {
  constexpr double least = std::numeric_limits<double>::min();
  int count = 0;
  double pivot = 1.0;
  for (int i = first; i < end; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double before = i > first ? t.beside[at - 1] : 0.0;
    pivot = t.diagonal[at] - limit - before * (before / pivot);
    if (std::abs(pivot) < least) pivot = -least;
    if (pivot < 0.0) ++count;
  }
  return count;
}

namespace {

/// Shifts whose Sturm sequences are gone through side by side.
constexpr int lanes = 8;

/// Diagonal and squares of what is beside it, of norm one or less. Squares are zero or no smaller than
/// epsilon^2 / 4.
struct SturmSequence {
  AlignedVector<double> diagonal;
  AlignedVector<double> squares;
};

/// How many eigenvalues lie below each of the limits, in multiples of `lanes`: changes of sign among the leading
/// minors p_i = (d_i - x) p_{i-1} - e_{i-1}^2 p_{i-2}. Two of them in a row fall by no more than the least square,
/// and grow by no more than (1 + sqrt 2)^2, so that bringing every eighth one to size is enough.
template <int packs>
void count_below(const SturmSequence& sequence, const double* limits, double* counts) {
  constexpr int width = packs * lanes;
  alignas(64) double p[width], before[width], below[width];
  for (int j = 0; j < width; ++j) p[j] = 1.0, before[j] = 0.0, below[j] = 0.0;
  const std::size_t n = sequence.diagonal.size();
  double square = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const double d = sequence.diagonal[i];
    if (square == 0.0) {  // a part of its own begins
      for (int j = 0; j < width; ++j) p[j] = 1.0, before[j] = 0.0;
    } else if (i % 8 == 0) {
#pragma omp simd
      for (int j = 0; j < width; ++j) {
        const double scale = 1.0 / std::max(std::abs(p[j]), std::abs(before[j]));
        p[j] *= scale;
        before[j] *= scale;
      }
    }
#pragma omp simd
    for (int j = 0; j < width; ++j) {
      const double next = (d - limits[j]) * p[j] - square * before[j];
      below[j] += (next < 0.0) != (p[j] < 0.0) ? 1.0 : 0.0;
      before[j] = p[j];
      p[j] = next;
    }
    square = sequence.squares[i];
  }
  for (int j = 0; j < width; ++j) counts[j] = below[j];
}

void count_below(const SturmSequence& sequence, const double* limits, double* counts, int packs) {
  constexpr int most = 3;
  constexpr std::ptrdiff_t step = std::ptrdiff_t{most} * lanes;
  for (; packs >= most; packs -= most, limits += step, counts += step) count_below<most>(sequence, limits, counts);
  if (packs == 2) count_below<2>(sequence, limits, counts);
  if (packs == 1) count_below<1>(sequence, limits, counts);
}

}  // namespace

std::vector<double> smallest_eigenvalues(const Tridiagonal& t, int count) {
  const double norm = norm_inf(t);
  std::vector<double> values(static_cast<std::size_t>(count), 0.0);
  if (norm == 0.0 || count == 0) return values;
  SturmSequence sequence{t.diagonal, t.beside};
  for (double& d : sequence.diagonal) d /= norm;
  for (double& e : sequence.squares) {
    e /= norm;
    e = std::abs(e) < 0.5 * epsilon ? 0.0 : e * e;
  }
  const int packs = (count + lanes - 1) / lanes;
  const auto width = static_cast<std::size_t>(packs) * lanes;
  AlignedVector<double> low(width, -1.0), high(width, 1.0), middle(width, 0.0), below(width);
  constexpr int halvings = 54;
  for (int step = 0; step < halvings; ++step) {
    for (std::size_t j = 0; j < width; ++j) middle[j] = 0.5 * (low[j] + high[j]);
    count_below(sequence, middle.data(), below.data(), packs);
    for (std::size_t j = 0; j < width; ++j) {
      const bool above = below[j] > static_cast<double>(j);  // at least j + 1 of them: the j-th one is there
      high[j] = above ? middle[j] : high[j];
      low[j] = above ? low[j] : middle[j];
    }
  }
  for (std::size_t j = 0; j < values.size(); ++j) values[j] = norm * 0.5 * (low[j] + high[j]);
  return values;
}

}  // namespace block_eigs
