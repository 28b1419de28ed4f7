#pragma once

#include <functional>
#include <utility>

#include "solver/space/block_space.hpp"
#include "spmm/matrix/linear_operator.hpp"

namespace block_eigs::test {

using DiagonalRule = std::function<double(GlobalIndex)>;

/// y = diag(entries) x on the host: the eigenvalues are its entries.
template <class T>
class DiagonalOperator final : public LinearOperator<T> {
 public:
  DiagonalOperator(const BlockSpace<T>& space, DiagonalRule entry)
      : first_(space.first_row()), rows_(space.local_rows()), entry_(std::move(entry)) {}
  LocalIndex rows() const override { return rows_; }
  LocalIndex columns() const override { return rows_; }
  void apply(ConstBlockView<T> x, BlockView<T> y) override {
    for (LocalIndex i = 0; i < rows_; ++i) {
      const double factor = entry_(first_ + i);
      for (LocalIndex j = 0; j < x.cols; ++j)
        y.data[i * y.stride + j] = static_cast<T>(factor * x.data[i * x.stride + j]);
    }
  }

 private:
  GlobalIndex first_;
  LocalIndex rows_;
  DiagonalRule entry_;
};

}  // namespace block_eigs::test
