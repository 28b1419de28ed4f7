#include "tests/battery/reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

extern "C" {
void dsyevd_(const char* job, const char* part, const int* n, double* a, const int* lda, double* w, double* work,
             const int* lwork, int* iwork, const int* liwork, int* info);
void dsygst_(const int* type, const char* part, const int* n, double* a, const int* lda, const double* b,
             const int* ldb, int* info);
void dsygv_(const int* type, const char* job, const char* part, const int* n, double* a, const int* lda, double* b,
            const int* ldb, double* w, double* work, const int* lwork, int* info);
void dpotrf_(const char* part, const int* n, double* a, const int* lda, int* info);
}

namespace block_eigs::test {

namespace {

/// Rounding errors of a dense eigenvalue, in units of epsilon ||A||.
constexpr double rounding = 100.0;

/// entry(i, j) times d_i d_j / scale
std::vector<double> in_units(const DenseMatrix& a, const std::vector<double>& d, double scale) {
  std::vector<double> result;
  result.reserve(a.values.size());
  for (int i = 0; i < a.size; ++i) {
    for (int j = 0; j < a.size; ++j) {
      result.push_back(a(i, j) / scale * (d[static_cast<std::size_t>(i)] * d[static_cast<std::size_t>(j)]));
    }
  }
  return result;
}

double largest_magnitude(const std::vector<double>& values) {
  double largest = 0.0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

}  // namespace

double infinity_norm(const DenseMatrix& a, double scale) {
  double norm = 0.0;
  for (int i = 0; i < a.size; ++i) {
    double sum = 0.0;
    for (int j = 0; j < a.size; ++j) sum += std::abs(a(i, j) / scale);
    norm = std::max(norm, sum);
  }
  return norm;
}

std::vector<double> dense_eigenvalues(std::vector<double> a, int n) {
  std::vector<double> w(static_cast<std::size_t>(n));
  std::vector<double> work(static_cast<std::size_t>(64 * n + 64));
  std::vector<int> integers(16);
  const int size = static_cast<int>(work.size());
  const int integer_size = static_cast<int>(integers.size());
  int info = 0;
  dsyevd_("N", "L", &n, a.data(), &n, w.data(), work.data(), &size, integers.data(), &integer_size, &info);
  if (info != 0) w.assign(w.size(), std::numeric_limits<double>::quiet_NaN());
  return w;
}

std::vector<double> product(const DenseMatrix& a, double scale, const std::vector<double>& x, std::size_t cols) {
  const auto n = static_cast<std::size_t>(a.size);
  std::vector<double> y(x.size(), 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const double entry = a.values[i * n + j] / scale;
      if (entry == 0.0) continue;
      for (std::size_t c = 0; c < cols; ++c) y[i * cols + c] += entry * x[j * cols + c];
    }
  }
  return y;
}

std::vector<double> column_norms(const std::vector<double>& x, std::size_t cols) {
  std::vector<double> norms(cols, 0.0);
  for (std::size_t k = 0; k < x.size(); ++k) norms[k % cols] += x[k] * x[k];
  for (double& norm : norms) norm = std::sqrt(norm);
  return norms;
}

double scale_of(const DenseMatrix& a) {
  int exponent = 0;
  std::frexp(largest_magnitude(a.values), &exponent);
  return std::ldexp(1.0, std::max(exponent, -1000));
}

Reference make_reference(const Try& one) {
  const int n = one.a.size;
  const double epsilon = std::numeric_limits<double>::epsilon();
  Reference result;
  result.scale = scale_of(one.a);
  result.norm_a = infinity_norm(one.a, result.scale);
  const auto zeros = std::count(one.a.values.begin(), one.a.values.end(), 0.0);
  result.mean_row = static_cast<double>(one.a.values.size() - static_cast<std::size_t>(zeros)) / std::max(n, 1);
  result.d.assign(static_cast<std::size_t>(n), 1.0);
  double stretch = 1.0;  // of the inverse of D B D
  double norm = 1.0;     // of D B D
  if (one.b) {
    for (int i = 0; i < n; ++i) result.d[static_cast<std::size_t>(i)] = 1.0 / std::sqrt((*one.b)(i, i));
    result.norm_b = infinity_norm(*one.b, 1.0);
    const std::vector<double> eigenvalues = dense_eigenvalues(one.b->values, n);
    result.condition = eigenvalues.front() > 0.0 ? eigenvalues.back() / eigenvalues.front() : HUGE_VAL;
    if (must_be_refused(one.mass)) return result;
    result.lower = in_units(*one.b, result.d, 1.0);
    const std::vector<double> in_balance = dense_eigenvalues(result.lower, n);
    stretch = in_balance.front() > 0.0 ? 1.0 / in_balance.front() : HUGE_VAL;
    norm = in_balance.back();
  }
  std::vector<double> a = in_units(one.a, result.d, result.scale);
  const double size = one.b ? largest_magnitude(dense_eigenvalues(a, n)) : 0.0;
  if (one.b) {
    int info = 0;
    const int type = 1;
    dpotrf_("L", &n, result.lower.data(), &n, &info);
    if (info != 0) return result;
    dsygst_(&type, "L", &n, a.data(), &n, result.lower.data(), &n, &info);
  }
  result.exact = dense_eigenvalues(std::move(a), n);
  const double largest = largest_magnitude(result.exact);
  result.allowance = rounding * epsilon * (one.b ? stretch * (size + largest * norm) : largest);
  return result;
}

std::vector<double> leading_eigenvectors(const Try& one, int count) {
  const int n = one.a.size;
  const double scale = scale_of(one.a);
  std::vector<double> a = one.a.values;
  for (double& value : a) value /= scale;
  std::vector<double> b = one.b ? one.b->values : identity(n).values;
  std::vector<double> w(static_cast<std::size_t>(n));
  std::vector<double> work(static_cast<std::size_t>(64 * n + 64));
  const int size = static_cast<int>(work.size());
  const int type = 1;
  int info = 0;
  dsygv_(&type, "V", "L", &n, a.data(), &n, b.data(), &n, w.data(), work.data(), &size, &info);
  if (info != 0) throw std::runtime_error("dsygv failed");
  std::vector<double> vectors;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < count; ++j) {
      vectors.push_back(a[static_cast<std::size_t>(i) +
                          static_cast<std::size_t>(n) * static_cast<std::size_t>(one.largest ? n - 1 - j : j)]);
    }
  }
  return vectors;
}

void weigh_residuals(const Reference& reference, int n, std::vector<double>& residuals) {
  if (reference.lower.empty()) return;
  const std::size_t rows = static_cast<std::size_t>(n);
  const std::size_t cols = residuals.size() / rows;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t c = 0; c < cols; ++c) residuals[i * cols + c] *= reference.d[i];
    for (std::size_t k = 0; k < i; ++k) {
      const double factor = reference.lower[i + k * rows];
      for (std::size_t c = 0; c < cols; ++c) residuals[i * cols + c] -= factor * residuals[k * cols + c];
    }
    const double pivot = reference.lower[i + i * rows];
    for (std::size_t c = 0; c < cols; ++c) residuals[i * cols + c] /= pivot;
  }
}

}  // namespace block_eigs::test
