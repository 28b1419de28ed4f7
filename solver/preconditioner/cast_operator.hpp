#pragma once

#include <algorithm>
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
    const LocalIndex at_once = std::min(cols, most_columns_);
    return DenseBlock<float>::bytes(rows(), at_once) + DenseBlock<float>::bytes(columns(), at_once) +
           inner_.work_bytes(cols);
  }
  void reserve(LocalIndex columns) override;
  /// For the float operator too.
  void limit_work_space(LocalIndex columns) override {
    most_columns_ = columns;
    inner_.limit_work_space(columns);
  }

 private:
  /// Scales columns by what is in scales_.
  void apply_scaled(ConstBlockView<double> x, BlockView<double> y);
  /// The same for columns whose scales begin at `first`, no more than there is work space for.
  void apply_some(ConstBlockView<double> x, BlockView<double> y, LocalIndex first);

  Context<double> context_;
  Context<float> float_context_;
  LinearOperator<float>& inner_;
  DenseBlock<float> x_;
  DenseBlock<float> y_;
  std::vector<double> scales_;  ///< as many as there are columns of work space, on all ranks alike
  std::vector<double> inverse_;
  LocalIndex most_columns_ = no_limit;  ///< of work space
};

}  // namespace block_eigs
