#pragma once

#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "solver/multigrid/aggregation/local_rows.hpp"
#include "solver/preconditioner/chebyshev.hpp"
#include "solver/preconditioner/jacobi.hpp"
#include "spmm/device/sparse_algebra.hpp"
#include "spmm/matrix/distributed_matrix.hpp"
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

/// Own rows as products take them, in the precision that a cycle works in. Collective.
template <class T>
CsrParts<T> parts_in_precision(const Context<T>& context, const aggregation::RowMoving& by,
                               aggregation::LocalRows rows) {
  CsrParts<T> parts;
  context.comm.collectively([&] {
    CsrParts<double> made = parts_of(by, std::move(rows));
    parts.own = in_precision<T>(*by.algebra, std::move(made.own));
    if (!made.ghosts.empty()) parts.boundary = in_precision<T>(*by.algebra, std::move(made.boundary));
    parts.boundary_rows = std::move(made.boundary_rows);
    parts.ghosts = std::move(made.ghosts);
  });
  return parts;
}

}  // namespace block_eigs
