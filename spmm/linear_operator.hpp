#pragma once

#include <limits>

#include "spmm/types.hpp"

namespace block_eigs {

/// y = A x on blocks of vectors that are distributed by rows: a matrix, or a preconditioner.
template <class T>
class LinearOperator {
 public:
  LinearOperator() = default;
  LinearOperator(const LinearOperator&) = delete;
  LinearOperator& operator=(const LinearOperator&) = delete;
  virtual ~LinearOperator() = default;

  virtual LocalIndex rows() const = 0;     ///< local rows of y
  virtual LocalIndex columns() const = 0;  ///< local rows of x

  /// y = A x for any number of columns; x and y must not overlap. Collective.
  virtual void apply(ConstBlockView<T> x, BlockView<T> y) = 0;

  /// max_i sum_j |a_ij| over all ranks where it is known, else NaN. Not collective.
  virtual double norm_inf() const { return std::numeric_limits<double>::quiet_NaN(); }
};

}  // namespace block_eigs
