#pragma once

#include <limits>

#include "spmm/device/kernels.hpp"
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

  /// y = D (step.alpha A x + step.right_hand_side R) + step.beta x + step.gamma y in one pass, where the
  /// operator can: then true. Else nothing has happened, and the caller combines A x itself. x and y must not
  /// overlap. Collective.
  virtual bool apply_step(ConstBlockView<T> x, BlockView<T> y, const ProductStep<T>& step) {
    static_cast<void>(x), static_cast<void>(y), static_cast<void>(step);
    return false;
  }

  /// Makes room for products with up to `columns` columns, so that apply allocates nothing. Collective.
  virtual void reserve(LocalIndex columns) { static_cast<void>(columns); }

  /// max_i sum_j |a_ij| over all ranks where it is known, else NaN. Not collective.
  virtual double norm_inf() const { return std::numeric_limits<double>::quiet_NaN(); }
};

}  // namespace block_eigs
