#pragma once

#include <cstddef>
#include <limits>
#include <span>

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
  /// The same by who knows about how large the columns of x are, for operators that scale them first: norms over
  /// all ranks, a factor of 10^10 more or less. The same numbers on all ranks. Collective.
  virtual void apply_sized(ConstBlockView<T> x, std::span<const double> norms, BlockView<T> y) {
    static_cast<void>(norms);
    apply(x, y);
  }

  /// y = D (step.alpha A x + step.right_hand_side R) + step.beta x + step.gamma y in one pass, where the
  /// operator can: then true. Else nothing has happened, and the caller combines A x itself. x and y must not
  /// overlap. Collective.
  virtual bool apply_step(ConstBlockView<T> x, BlockView<T> y, const ProductStep<T>& step) {
    static_cast<void>(x), static_cast<void>(y), static_cast<void>(step);
    return false;
  }

  /// y = A x and, by own rows, products += x^T y, A being symmetric: in one pass, where the operator can; then
  /// true. Else nothing has happened. x and y must not overlap. Collective, but for the products, which are not
  /// summed.
  virtual bool apply_products(ConstBlockView<T> x, BlockView<T> y, SmallMatrix& products) {
    static_cast<void>(x), static_cast<void>(y), static_cast<void>(products);
    return false;
  }
  /// Where y = A x does nothing but multiply own rows by numbers: these, in device memory. Else null.
  virtual const T* row_factors() const { return nullptr; }

  /// Device memory that the calling rank's part holds from the start; 0 where it is not known. Not collective.
  virtual std::size_t bytes() const { return 0; }
  /// Device memory that it takes beside bytes() once it is applied to `cols` columns: work space and messages.
  virtual std::size_t work_bytes(LocalIndex cols) const {
    static_cast<void>(cols);
    return 0;
  }

  /// Blocks of `cols` columns that y = A x with a step moves beside those of the step itself, on the rank that
  /// moves the most: A, and rows from other ranks, which travel more slowly. Infinity where that is not known or
  /// no step is taken along. Collective.
  virtual double blocks_beside(LocalIndex cols) const {
    static_cast<void>(cols);
    return std::numeric_limits<double>::infinity();
  }

  /// Sets aside all memory that apply and apply_step need for blocks of up to `columns` columns, so that they
  /// cannot fail on one rank alone for want of it; solvers call it before they iterate, with the same number on
  /// all ranks. Never shrinks, and forwards to the operators that this one is made of. Collective; what it throws
  /// is OnAllRanks.
  virtual void reserve(LocalIndex columns) { static_cast<void>(columns); }

  /// Work space for blocks of so many columns and no more, whatever is reserved and applied: wider ones are worked
  /// on piece by piece, where an operator can. Called before it is first applied or reserved, with the same number
  /// on all ranks; `no_limit` takes it back. Forwards as reserve does, but for operators that get pieces only.
  virtual void limit_work_space(LocalIndex columns) { static_cast<void>(columns); }
  static constexpr LocalIndex no_limit = std::numeric_limits<LocalIndex>::max();

  /// max_i sum_j |a_ij| over all ranks where it is known, else NaN. Not collective.
  virtual double norm_inf() const { return std::numeric_limits<double>::quiet_NaN(); }
  /// How large A is, for who weighs rounding errors: norm_inf(), or an estimate of the largest singular value,
  /// which may be too small; NaN where nothing is known. Not collective.
  virtual double norm_scale() const { return norm_inf(); }
  /// Typical sum_j |a_ij| of the rows that are not zero, over all ranks: 2 to the mean of their binary exponents.
  /// norm_scale() where it is not known. Not collective.
  virtual double typical_row_sum() const { return norm_scale(); }
};

}  // namespace block_eigs
