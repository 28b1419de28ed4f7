#pragma once

#include <cstddef>
#include <stdexcept>
#include <vector>

#include "io/source/matrix_source.hpp"
#include "spmm/matrix/csr_rows.hpp"

extern "C" void dsyev_(const char* job, const char* part, const int* n, double* a, const int* lda, double* w,
                       double* work, const int* lwork, int* info);

namespace block_eigs::test {

/// Small square matrix, row-major: what sparse matrices are compared with.
struct DenseMatrix {
  explicit DenseMatrix(int n) : size(n), values(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), 0.0) {}

  double& operator()(int i, int j) {
    return values[static_cast<std::size_t>(i) * static_cast<std::size_t>(size) + static_cast<std::size_t>(j)];
  }
  double operator()(int i, int j) const { return const_cast<DenseMatrix&>(*this)(i, j); }

  int size;
  std::vector<double> values;
};

inline DenseMatrix identity(int n) {
  DenseMatrix result(n);
  for (int i = 0; i < n; ++i) result(i, i) = 1.0;
  return result;
}

/// outer (x) inner: the inner index runs fastest.
inline DenseMatrix kronecker(const DenseMatrix& outer, const DenseMatrix& inner) {
  DenseMatrix result(outer.size * inner.size);
  for (int i = 0; i < result.size; ++i) {
    for (int j = 0; j < result.size; ++j) {
      result(i, j) = outer(i / inner.size, j / inner.size) * inner(i % inner.size, j % inner.size);
    }
  }
  return result;
}

inline DenseMatrix sum(double alpha, const DenseMatrix& a, double beta, const DenseMatrix& b) {
  DenseMatrix result(a.size);
  for (std::size_t k = 0; k < a.values.size(); ++k) result.values[k] = alpha * a.values[k] + beta * b.values[k];
  return result;
}

/// Eigenvalues of a symmetric matrix, ascending, by LAPACK's dsyev.
inline std::vector<double> eigenvalues(DenseMatrix matrix) {
  const int n = matrix.size;
  const int work_size = 3 * n + 64;
  std::vector<double> w(static_cast<std::size_t>(n));
  std::vector<double> work(static_cast<std::size_t>(work_size));
  int info = 0;
  dsyev_("N", "L", &n, matrix.values.data(), &n, w.data(), work.data(), &work_size, &info);
  if (info != 0) throw std::runtime_error("dsyev failed");
  return w;
}

/// Rows that are the whole matrix.
inline DenseMatrix to_dense(const CsrRows& rows) {
  DenseMatrix result(static_cast<int>(rows.global_columns));
  for (int i = 0; i < rows.rows(); ++i) {
    for (Offset k = rows.row_offsets[static_cast<std::size_t>(i)];
         k < rows.row_offsets[static_cast<std::size_t>(i) + 1]; ++k) {
      result(i, static_cast<int>(rows.columns[static_cast<std::size_t>(k)])) +=
          rows.values[static_cast<std::size_t>(k)];
    }
  }
  return result;
}

/// All rows of a source that was opened with one rank alone.
inline CsrRows read_all(MatrixSource& source) { return source.read(Partition::uniform(source.rows(), 1)); }

inline DenseMatrix read_dense(MatrixSource& source) { return to_dense(read_all(source)); }

}  // namespace block_eigs::test
