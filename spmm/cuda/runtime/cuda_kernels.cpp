#include "spmm/cuda/runtime/cuda_kernels.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "spmm/cuda/dense/column_layout.hpp"
#include "spmm/cuda/dense/column_sums.hpp"
#include "spmm/cuda/dense/elementwise.hpp"
#include "spmm/cuda/dense/gram.hpp"
#include "spmm/cuda/dense/update.hpp"
#include "spmm/cuda/dense/update_gram.hpp"

namespace block_eigs::cuda {

namespace {

/// Columns that kernels of products read at once, at most.
constexpr std::size_t widest_pack = 4;

}  // namespace

template <class T>
CudaKernels<T>::CudaKernels(std::shared_ptr<CudaDevice> device)
    : device_(std::move(device)), spmm_(device_->stream(Queue::compute), device_), workspace_(device_) {}

template <class T>
const double* CudaKernels<T>::send(std::span<const double> values) {
  if (values.empty()) return nullptr;
  std::copy(values.begin(), values.end(), workspace_.stage(values.size()));
  return workspace_.send();
}

template <class T>
void CudaKernels<T>::receive(std::span<double> values) {
  const std::uint64_t sent = workspace_.sent();
  this->do_meanwhile();
  std::copy_n(workspace_.wait_for_results(sent), values.size(), values.begin());
}

template <class T>
std::unique_ptr<SpmmPlan> CudaKernels<T>::analyse(const CsrView<T>& a, const SpmmOptions& options) {
  device_->stream(Queue::compute);  // makes the GPU current
  return spmm_.analyse(a, options);
}

template <class T>
void CudaKernels<T>::spmm(SpmmPlan& plan, const CsrView<T>& a, ConstBlockView<T> b, BlockView<T> c,
                          const ProductStep<T>& step, const Progress& progress) {
  device_->stream(Queue::compute);  // makes the GPU current
  std::vector<double> betas(step.betas.begin(), step.betas.end());
  if (!betas.empty()) betas.resize(betas.size() + widest_pack - 1, 0.0);
  spmm_.spmm(plan, a, b, c, step, send(betas));
  if (progress) progress();
}

template <class T>
void CudaKernels<T>::gather_rows(ConstBlockView<T> x, const LocalIndex* rows, BlockView<T> out, Queue queue) {
  cuda::gather_rows(device_->stream(queue), x, rows, out);
}

template <class T>
void CudaKernels<T>::gram(const ConstBlockList<T>& left, const ConstBlockList<T>& right, SmallMatrix& result) {
  result.resize(left.cols(), right.cols());
  const HandOver results = workspace_.results(result.values().size());
  cuda::gram(*device_, workspace_, left, right, results);
  receive(result.values());
}

template <class T>
void CudaKernels<T>::update(const ConstBlockList<T>& in, const SmallMatrix& coefficients,
                            const BlockList<T>& out) {
  cuda::update(*device_, workspace_, in, coefficients, out);
}

template <class T>
void CudaKernels<T>::update_gram(const ConstBlockList<T>& in, const SmallMatrix& coefficients,
                                 const BlockList<T>& out, const RowScaling<T>& scaling,
                                 const ConstBlockList<T>& left, const ConstBlockList<T>& right,
                                 SmallMatrix& result) {
  result.resize(left.cols(), right.cols());
  const HandOver products = workspace_.results(result.values().size());
  const bool done = cuda::update_gram(*device_, workspace_, in, coefficients, out, scaling, left, right, products);
  if (!done) return Kernels<T>::update_gram(in, coefficients, out, scaling, left, right, result);
  receive(result.values());
}

template <class T>
void CudaKernels<T>::residual(ConstBlockView<T> ax, ConstBlockView<T> bx, std::span<const double> lambda,
                              BlockView<T> r, std::span<double> squared_norms) {
  const HandOver results = workspace_.results(squared_norms.size());
  cuda::residual(*device_, workspace_, ax, bx, send(lambda), r, results);
  receive(squared_norms);
}

template <class T>
void CudaKernels<T>::update_residual(const ConstBlockList<T>& in, const SmallMatrix& coefficients,
                                     const BlockList<T>& out, ConstBlockView<T> bx, std::span<const double> lambda,
                                     BlockView<T> r, std::span<double> squared_norms) {
  const HandOver results = workspace_.results(squared_norms.size());
  const bool done =
      cuda::update_residual<T>(*device_, workspace_, in, coefficients, out, {bx, lambda, r}, results);
  if (!done) return Kernels<T>::update_residual(in, coefficients, out, bx, lambda, r, squared_norms);
  receive(squared_norms);
}

template <class T>
void CudaKernels<T>::column_dots(ConstBlockView<T> x, ConstBlockView<T> y, std::span<double> dots) {
  const HandOver results = workspace_.results(dots.size());
  cuda::column_dots(*device_, workspace_, x, y, results);
  receive(dots);
}

template <class T>
void CudaKernels<T>::scale_rows(const T* d, ConstBlockView<T> x, BlockView<T> y) {
  cuda::scale_rows(compute(), d, x, y);
}

template <class T>
void CudaKernels<T>::axpby(double alpha, ConstBlockView<T> x, double beta, BlockView<T> y) {
  cuda::axpby(compute(), alpha, x, beta, y);
}

template <class T>
void CudaKernels<T>::combine(const ProductStep<T>& step, ConstBlockView<T> ax, ConstBlockView<T> x,
                             BlockView<T> y) {
  cuda::combine(compute(), step, send(step.betas), ax, x, y);
}

template <class T>
void CudaKernels<T>::copy(ConstBlockView<T> x, BlockView<T> y) {
  cuda::convert<T, T>(compute(), x, nullptr, y);
}

template <class T>
void CudaKernels<T>::fill(BlockView<T> y, double value) {
  cuda::fill(compute(), y, value);
}

template <class T>
void CudaKernels<T>::from_columns(const T* columns, std::int64_t leading, BlockView<T> y) {
  cuda::from_columns(compute(), columns, leading, y);
}

template <class T>
void CudaKernels<T>::to_columns(ConstBlockView<T> x, T* columns, std::int64_t leading) {
  cuda::to_columns(compute(), x, columns, leading);
}

template <class T>
void CudaKernels<T>::fill_random(BlockView<T> y, std::uint64_t seed, GlobalIndex first_row) {
  cuda::fill_random(compute(), y, seed, first_row);
}

template <class T>
void CudaKernels<T>::convert(ConstBlockView<T> x, std::span<const double> scales, BlockView<float> y) {
  cuda::convert<T, float>(compute(), x, send(scales), y);
}

template <class T>
void CudaKernels<T>::convert(ConstBlockView<T> x, std::span<const double> scales, BlockView<double> y) {
  cuda::convert<T, double>(compute(), x, send(scales), y);
}

template class CudaKernels<float>;
template class CudaKernels<double>;

}  // namespace block_eigs::cuda
