#include "apps/in_memory/estimated_norm.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace block_eigs {

namespace {

template <class T>
class WithNorm final : public LinearOperator<T> {
 public:
  WithNorm(std::unique_ptr<LinearOperator<T>> operation, double norm)
      : operation_(std::move(operation)), norm_(norm) {}

  LocalIndex rows() const override { return operation_->rows(); }
  LocalIndex columns() const override { return operation_->columns(); }
  void apply(ConstBlockView<T> x, BlockView<T> y) override { operation_->apply(x, y); }
  bool apply_step(ConstBlockView<T> x, BlockView<T> y, const ProductStep<T>& step) override {
    return operation_->apply_step(x, y, step);
  }
  std::size_t bytes() const override { return operation_->bytes(); }
  std::size_t work_bytes(LocalIndex cols) const override { return operation_->work_bytes(cols); }
  double blocks_beside(LocalIndex cols) const override { return operation_->blocks_beside(cols); }
  void reserve(LocalIndex columns) override { operation_->reserve(columns); }
  void limit_work_space(LocalIndex columns) override { operation_->limit_work_space(columns); }
  double norm_scale() const override { return norm_; }

 private:
  std::unique_ptr<LinearOperator<T>> operation_;
  double norm_;
};

}  // namespace

template <class T>
std::unique_ptr<LinearOperator<T>> with_estimated_norm(BlockSpace<T>& space,
                                                       std::unique_ptr<LinearOperator<T>> operation) {
  constexpr int steps = 8;
  constexpr std::uint64_t seed = 3;
  if (!operation || !std::isnan(operation->norm_scale())) return operation;
  DenseBlock<T> x = space.make_block(1);
  DenseBlock<T> ax = space.make_block(1);
  space.fill_random(ax.view(), seed);
  double largest = 0.0;
  double norm = space.column_norms(ax.view()).front();
  for (int step = 0; step < steps && norm > 0.0 && std::isfinite(norm); ++step) {
    space.kernels().convert(ax.view(), std::vector<double>{1.0 / norm}, x.view());
    operation->apply(x.view(), ax.view());
    norm = space.column_norms(ax.view()).front();
    largest = std::max(largest, norm);
  }
  if (!std::isfinite(norm)) return operation;
  return std::make_unique<WithNorm<T>>(std::move(operation), largest);
}

template std::unique_ptr<LinearOperator<float>> with_estimated_norm(BlockSpace<float>&,
                                                                    std::unique_ptr<LinearOperator<float>>);
template std::unique_ptr<LinearOperator<double>> with_estimated_norm(BlockSpace<double>&,
                                                                     std::unique_ptr<LinearOperator<double>>);

}  // namespace block_eigs
