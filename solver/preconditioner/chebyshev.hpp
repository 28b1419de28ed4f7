#pragma once

#include <span>

#include "spmm/device/buffer.hpp"
#include "spmm/matrix/dense_block.hpp"
#include "spmm/matrix/linear_operator.hpp"
#include "spmm/parallel/context.hpp"

namespace block_eigs {

struct ChebyshevOptions {
  int degree = 8;
  /// The polynomial is small on [upper bound / ratio, upper bound]; 0 takes a value that suits the degree.
  double ratio = 0.0;
};

/// y = p(D^-1 A) D^-1 x, p the polynomial of the given degree - 1 for which 1 - t p(t) is the Chebyshev polynomial
/// scaled to the upper part of the spectrum of D^-1 A: `degree` Chebyshev semi-iterations for A y = x from zero
/// (Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., algorithm 12.1). Symmetric, and positive definite
/// as long as no eigenvalue of D^-1 A exceeds the upper bound. By the
/// three-term recurrence for y; keeps one block of work space, and one more where A cannot take its steps.
template <class T>
class Chebyshev final : public LinearOperator<T> {
 public:
  /// `diagonal` holds own entries of D, A's or DistributedMatrix::jacobi_diagonal(); `upper_bound` bounds the
  /// eigenvalues of |D|^-1 A from above: jacobi_bound() for that.
  /// `constant_diagonal` says that is_constant() holds, on all ranks alike: that spares a pass over the block. `a`
  /// is kept by reference. Throws InputError on a degree below 1 or a ratio of 1 or less. Not collective.
  Chebyshev(const Context<T>& context, LinearOperator<T>& a, std::span<const double> diagonal, double upper_bound,
            const ChebyshevOptions& options, bool constant_diagonal = false);
  /// With |D|^-1 on the device already; `constant_inverse` is what all of its entries are on all ranks, where that
  /// is one number, else 0.
  Chebyshev(const Context<T>& context, LinearOperator<T>& a, Buffer<T> inverse_diagonal, double constant_inverse,
            double upper_bound, const ChebyshevOptions& options);

  LocalIndex rows() const override { return a_.rows(); }
  LocalIndex columns() const override { return a_.rows(); }
  /// Multiplies A with degree - 1 blocks. Collective.
  void apply(ConstBlockView<T> x, BlockView<T> y) override;
  std::size_t bytes() const override { return inverse_.size() * sizeof(T); }
  /// Of an A that takes its steps; A's own apart.
  std::size_t work_bytes(LocalIndex cols) const override;
  /// `degree` semi-iterations for A y = r from what `y` holds, by as many products. The result is in `scratch`
  /// where the degree is odd, else in y; the other one is used up. Collective.
  void improve(ConstBlockView<T> r, BlockView<T> y, BlockView<T> scratch);
  /// The same for r = 0, which need not be there: damps what of y is rough.
  void smooth(BlockView<T> y, BlockView<T> scratch);
  void reserve(LocalIndex columns) override;
  int degree() const { return degree_; }

 private:
  ProductStep<T> step_towards(ConstBlockView<T> r) const;
  void advance(ProductStep<T>& step, double& rho) const;
  void iterate(ProductStep<T> step, BlockView<T> now, BlockView<T> before, int count, bool from_zero);
  void apply_with_constant_diagonal(ConstBlockView<T> x, BlockView<T> y);
  void take_step(const ProductStep<T>& step, ConstBlockView<T> x, BlockView<T> y);
  void make_work_space(LocalIndex columns);

  Context<T> context_;
  LinearOperator<T>& a_;
  Buffer<T> inverse_;
  double constant_inverse_ = 0.0;  ///< all entries of inverse_, where that is known to be one number on all ranks
  int degree_;
  double center_;
  double half_width_;
  DenseBlock<T> other_;
  DenseBlock<T> product_;       ///< where A cannot take the step along
  bool needs_product_ = false;  ///< it has turned out so
  LocalIndex reserved_ = 0;     ///< columns that there is work space for, on all ranks alike
};

}  // namespace block_eigs
