#pragma once

#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "solver/preconditioner/chebyshev.hpp"
#include "solver/preconditioner/jacobi.hpp"
#include "spmm/device/sparse_algebra.hpp"
#include "spmm/matrix/csr_rows.hpp"
#include "spmm/parallel/context.hpp"

namespace block_eigs {

/// The same numbers in the precision that a cycle works in; the pattern is shared, and none of it leaves the
/// device.
template <class T>
CsrBuffers<T> in_precision(SparseAlgebra& algebra, CsrBuffers<double> matrix) {
  if constexpr (std::is_same_v<T, double>) {
    return matrix;
  } else {
    return {std::move(matrix.pattern), algebra.to_float(matrix.values)};
  }
}

/// The polynomial of a matrix that was made on the device, by its damped diagonal.
template <class T>
std::unique_ptr<Chebyshev<T>> device_smoother(const Context<T>& context, SparseAlgebra& algebra,
                                              LinearOperator<T>& a, const MatrixNumbers& numbers,
                                              const ChebyshevOptions& options) {
  using Range = InverseRange<T>;
  Buffer<double> inverse = algebra.inverse_of(numbers.damped, Range::smallest, Range::largest);
  double constant = 0.0;
  if (numbers.constant != 0.0)
    constant = inverse_diagonal<double>(std::span<const double>(&numbers.constant, 1)).front();
  if constexpr (std::is_same_v<T, double>) {
    return std::make_unique<Chebyshev<T>>(context, a, std::move(inverse), constant, numbers.damped_bound, options);
  } else {
    return std::make_unique<Chebyshev<T>>(context, a, algebra.to_float(inverse), constant, numbers.damped_bound,
                                          options);
  }
}

/// A matrix of one rank in host memory.
inline CsrRows to_host(const CsrBuffers<double>& matrix) {
  const CsrPattern& pattern = *matrix.pattern;
  std::vector<LocalIndex> columns(pattern.column_indices.size());
  pattern.column_indices.download(columns.data());
  CsrRows rows;
  rows.global_rows = pattern.rows;
  rows.global_columns = pattern.columns;
  rows.row_offsets.resize(pattern.row_offsets.size());
  pattern.row_offsets.download(rows.row_offsets.data());
  rows.columns.assign(columns.begin(), columns.end());
  rows.values.resize(matrix.values.size());
  matrix.values.download(rows.values.data());
  return rows;
}

}  // namespace block_eigs
