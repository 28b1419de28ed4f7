#pragma once

#include <functional>
#include <vector>

#include "solver/space/block_space.hpp"
#include "spmm/matrix/linear_operator.hpp"

namespace block_eigs::test {

using DiagonalRule = std::function<double(GlobalIndex)>;

/// y = diag(entries) x: the eigenvalues are its entries.
template <class T>
class DiagonalOperator final : public LinearOperator<T> {
 public:
  DiagonalOperator(const BlockSpace<T>& space, const DiagonalRule& entry)
      : context_(space.context()), entries_(context_.device, static_cast<std::size_t>(space.local_rows())) {
    std::vector<T> own;
    for (LocalIndex i = 0; i < space.local_rows(); ++i)
      own.push_back(static_cast<T>(entry(space.first_row() + i)));
    entries_.upload(own.data());
  }
  LocalIndex rows() const override { return static_cast<LocalIndex>(entries_.size()); }
  LocalIndex columns() const override { return rows(); }
  void apply(ConstBlockView<T> x, BlockView<T> y) override { context_.kernels->scale_rows(entries_.data(), x, y); }

 private:
  Context<T> context_;
  Buffer<T> entries_;
};

}  // namespace block_eigs::test
