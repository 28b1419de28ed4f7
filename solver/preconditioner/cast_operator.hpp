#pragma once

#include <span>
#include <vector>

#include "spmm/matrix/dense_block.hpp"
#include "spmm/matrix/linear_operator.hpp"
#include "spmm/parallel/context.hpp"

namespace block_eigs {

/// A float operator lent to a double solver, for preconditioners. Every column is scaled to norm 1, or about that,
/// before it is rounded to float, and the result is scaled back, so that neither small residuals nor large
/// matrices leave the range of float.
class CastOperator final : public LinearOperator<double> {
 public:
  /// Both are kept by reference.
  CastOperator(const Context<double>& context, LinearOperator<float>& inner)
      : context_(context), float_context_(with_precision<float>(context)), inner_(inner) {}

  LocalIndex rows() const override { return inner_.rows(); }
  LocalIndex columns() const override { return inner_.columns(); }
  void apply(ConstBlockView<double> x, BlockView<double> y) override;
  /// Saves a pass over x and the sum over the ranks, for which a GPU's host would wait.
  void apply_sized(ConstBlockView<double> x, std::span<const double> norms, BlockView<double> y) override;
  /// Its own blocks and those of the float operator.
  std::size_t work_bytes(LocalIndex cols) const override {
    return DenseBlock<float>::bytes(rows(), cols) + DenseBlock<float>::bytes(columns(), cols) +
           inner_.work_bytes(cols);
  }
  void reserve(LocalIndex columns) override;

 private:
  /// Scales columns by what is in scales_.
  void apply_scaled(ConstBlockView<double> x, BlockView<double> y);

  Context<double> context_;
  Context<float> float_context_;
  LinearOperator<float>& inner_;
  DenseBlock<float> x_;
  DenseBlock<float> y_;
  std::vector<double> scales_;  ///< as many as there are columns of work space, on all ranks alike
  std::vector<double> inverse_;
};

}  // namespace block_eigs
