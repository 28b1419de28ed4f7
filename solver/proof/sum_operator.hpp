#pragma once

#include "solver/space/block_space.hpp"
#include "spmm/matrix/dense_block.hpp"
#include "spmm/matrix/linear_operator.hpp"

namespace block_eigs {

/// y = A x + t B x
template <class T>
class SumOperator final : public LinearOperator<T> {
 public:
  SumOperator(BlockSpace<T>& space, LinearOperator<T>& a, double t, LinearOperator<T>& b)
      : space_(space), a_(a), b_(b), t_(t) {}

  LocalIndex rows() const override { return a_.rows(); }
  LocalIndex columns() const override { return a_.columns(); }
  void apply(ConstBlockView<T> x, BlockView<T> y) override;
  void reserve(LocalIndex columns) override;
  double norm_inf() const override { return a_.norm_inf() + t_ * b_.norm_inf(); }

 private:
  BlockSpace<T>& space_;
  LinearOperator<T>& a_;
  LinearOperator<T>& b_;
  double t_;
  DenseBlock<T> image_;
};

}  // namespace block_eigs
