#include "solver/small/lapack.hpp"

#include <algorithm>
#include <cmath>

#include "spmm/aligned_allocator.hpp"
#include "spmm/error.hpp"

extern "C" {
void dsyevd_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w, double* work,
             const int* lwork, int* iwork, const int* liwork, int* info);
void dsyev_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w, double* work,
            const int* lwork, int* info);
void dsyevr_(const char* jobz, const char* range, const char* uplo, const int* n, double* a, const int* lda,
             const double* vl, const double* vu, const int* il, const int* iu, const double* abstol, int* m,
             double* w, double* z, const int* ldz, int* isuppz, double* work, const int* lwork, int* iwork,
             const int* liwork, int* info);
void dsygst_(const int* itype, const char* uplo, const int* n, double* a, const int* lda, const double* b,
             const int* ldb, int* info);
void dgesv_(const int* n, const int* columns, double* a, const int* lda, int* pivots, double* b, const int* ldb,
            int* info);
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dtrsm_(const char* side, const char* uplo, const char* trans, const char* diag, const int* m, const int* n,
            const double* alpha, const double* a, const int* lda, double* b, const int* ldb);
void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
            const int* ldc);
void dgelqf_(const int* m, const int* n, double* a, const int* lda, double* tau, double* work, const int* lwork,
             int* info);
void dorglq_(const int* m, const int* n, const int* k, double* a, const int* lda, const double* tau, double* work,
             const int* lwork, int* info);
}

namespace block_eigs::lapack {

namespace {

int leading(const SmallMatrix& matrix) { return std::max(matrix.rows(), 1); }

void solve_triangular(char trans, const SmallMatrix& lower, SmallMatrix& matrix) {
  const int rows = matrix.rows();
  const int cols = matrix.cols();
  if (rows == 0 || cols == 0) return;
  const double one = 1.0;
  const int lda = leading(lower);
  const int ldb = leading(matrix);
  dtrsm_("L", "L", &trans, "N", &rows, &cols, &one, lower.data(), &lda, matrix.data(), &ldb);
}

/// LAPACK need not come back from values that are not finite.
void require_finite(const SmallMatrix& matrix) {
  const auto values = matrix.values();
  if (std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); })) return;
  throw NumericalError(
      "a small dense eigenproblem holds values that are not finite: numbers have left the range of the "
      "arithmetic; "
      "precision: double has the larger one");
}

std::vector<double> eigen_without_divide_and_conquer(SmallMatrix& matrix) {
  const int n = matrix.rows();
  const int lda = leading(matrix);
  std::vector<double> values(static_cast<std::size_t>(n));
  const int lwork = std::max(1, 34 * n);
  AlignedVector<double> work(static_cast<std::size_t>(lwork));
  int info = 0;
  dsyev_("V", "L", &n, matrix.data(), &lda, values.data(), work.data(), &lwork, &info);
  if (info != 0) throw NumericalError("small dense eigenproblem: the QR algorithm does not converge");
  return values;
}

}  // namespace

std::vector<double> symmetric_eigen(SmallMatrix& matrix) {
  // Beyond, the work space is more than LAPACK's integers count.
  constexpr int most_rows = 32'766;
  const int n = matrix.rows();
  if (n == 0) return {};
  require_finite(matrix);
  if (n > most_rows) return eigen_without_divide_and_conquer(matrix);
  const int lda = leading(matrix);
  std::vector<double> values(static_cast<std::size_t>(n));
  const int lwork = 1 + 6 * n + 2 * n * n;
  const int liwork = 3 + 5 * n;
  AlignedVector<double> work(static_cast<std::size_t>(lwork));
  std::vector<int> iwork(static_cast<std::size_t>(liwork));
  const SmallMatrix saved = matrix;
  int info = 0;
  dsyevd_("V", "L", &n, matrix.data(), &lda, values.data(), work.data(), &lwork, iwork.data(), &liwork, &info);
  if (info == 0) return values;
  matrix = saved;
  return eigen_without_divide_and_conquer(matrix);
}

std::vector<double> tridiagonal_eigenvalues(std::span<const double> diagonal, std::span<const double> beside) {
  const int n = static_cast<int>(diagonal.size());
  SmallMatrix matrix(n, n);
  for (int i = 0; i < n; ++i) {
    matrix(i, i) = diagonal[static_cast<std::size_t>(i)];
    if (i + 1 < n) matrix(i + 1, i) = beside[static_cast<std::size_t>(i)];
  }
  return symmetric_eigen(matrix);
}

bool cholesky(SmallMatrix& matrix) {
  const int n = matrix.rows();
  if (n == 0) return true;
  const int lda = leading(matrix);
  int info = 0;
  dpotrf_("L", &n, matrix.data(), &lda, &info);
  for (int j = 1; j < n; ++j) std::fill_n(matrix.column(j), j, 0.0);
  if (info != 0) return false;
  // A NaN passes some implementations' pivot test.
  for (int j = 0; j < n; ++j) {
    if (!(matrix(j, j) > 0.0)) return false;
  }
  return true;
}

void solve_lower(const SmallMatrix& lower, SmallMatrix& matrix) { solve_triangular('N', lower, matrix); }

void solve_lower_transposed(const SmallMatrix& lower, SmallMatrix& matrix) {
  solve_triangular('T', lower, matrix);
}

SmallMatrix product(const SmallMatrix& a, bool transpose_a, const SmallMatrix& b, bool transpose_b) {
  const int m = transpose_a ? a.cols() : a.rows();
  const int n = transpose_b ? b.rows() : b.cols();
  const int k = transpose_a ? a.rows() : a.cols();
  SmallMatrix result(m, n);
  if (m == 0 || n == 0 || k == 0) return result;
  const double one = 1.0;
  const double zero = 0.0;
  const int lda = leading(a);
  const int ldb = leading(b);
  dgemm_(transpose_a ? "T" : "N", transpose_b ? "T" : "N", &m, &n, &k, &one, a.data(), &lda, b.data(), &ldb, &zero,
         result.data(), &m);
  return result;
}

SmallMatrix orthonormal_rows(SmallMatrix matrix) {
  const int m = matrix.rows();
  const int n = matrix.cols();
  if (m == 0 || n == 0) return matrix;
  const int lda = leading(matrix);
  const int lwork = 64 * std::max(m, n);
  AlignedVector<double> work(static_cast<std::size_t>(lwork));
  AlignedVector<double> tau(static_cast<std::size_t>(m));
  int info = 0;
  dgelqf_(&m, &n, matrix.data(), &lda, tau.data(), work.data(), &lwork, &info);
  dorglq_(&m, &n, &m, matrix.data(), &lda, tau.data(), work.data(), &lwork, &info);
  return matrix;
}

void divide_by_factor(const SmallMatrix& lower, SmallMatrix& matrix) {
  solve_lower(lower, matrix);
  const int n = matrix.rows();
  const double one = 1.0;
  const int lda = leading(lower);
  if (n > 0) dtrsm_("R", "L", "T", "N", &n, &n, &one, lower.data(), &lda, matrix.data(), &lda);
}

bool solve(SmallMatrix& matrix, SmallMatrix& x) {
  const int n = matrix.rows();
  const int lda = leading(matrix);
  const int sides = x.cols();
  std::vector<int> pivots(static_cast<std::size_t>(n));
  int info = 0;
  if (n > 0 && sides > 0) dgesv_(&n, &sides, matrix.data(), &lda, pivots.data(), x.data(), &lda, &info);
  return info == 0;
}

bool solve(SmallMatrix& matrix, std::vector<double>& x) {
  SmallMatrix column(static_cast<int>(x.size()), 1);
  std::copy(x.begin(), x.end(), column.data());
  if (!solve(matrix, column)) return false;
  std::copy_n(column.data(), x.size(), x.begin());
  return true;
}

std::vector<double> lowest_eigenpairs(SmallMatrix& a, SmallMatrix& b, int count, SmallMatrix& vectors) {
  const int n = a.rows();
  const int lda = leading(a);
  vectors.resize(n, count);
  if (n == 0 || count == 0) return {};
  require_finite(a);
  require_finite(b);
  int info = 0;
  if (b.rows() > 0) {
    if (!cholesky(b))
      throw InputError(
          "the mass matrix B is not positive definite within rounding errors of the run's precision: it has no "
          "Cholesky factor");
    const int itype = 1;
    dsygst_(&itype, "L", &n, a.data(), &lda, b.data(), &lda, &info);
  }
  SmallMatrix saved = a;
  std::vector<double> values(static_cast<std::size_t>(n));
  std::vector<int> support(2 * static_cast<std::size_t>(n));
  const int first = 1;
  const double unused = 0.0;
  int found = 0;
  int query = -1;
  double lwork_wanted = 0.0;
  int liwork = 0;
  const auto call = [&](double* work, const int* lwork, int* iwork, const int* liwork_given) {
    dsyevr_("V", "I", "L", &n, a.data(), &lda, &unused, &unused, &first, &count, &unused, &found, values.data(),
            vectors.data(), &n, support.data(), work, lwork, iwork, liwork_given, &info);
  };
  call(&lwork_wanted, &query, &liwork, &query);
  const int lwork = static_cast<int>(lwork_wanted);
  AlignedVector<double> work(static_cast<std::size_t>(lwork));
  std::vector<int> iwork(static_cast<std::size_t>(liwork));
  call(work.data(), &lwork, iwork.data(), &liwork);
  if (info != 0 || found != count) {
    // Relatively robust representations failed; all pairs by divide and conquer take longer.
    values = symmetric_eigen(saved);
    std::copy_n(saved.data(), vectors.values().size(), vectors.data());
  }
  if (b.rows() > 0) solve_lower_transposed(b, vectors);
  values.resize(static_cast<std::size_t>(count));
  return values;
}

}  // namespace block_eigs::lapack
