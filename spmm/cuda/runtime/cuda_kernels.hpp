#pragma once

#include <memory>
#include <span>

#include "spmm/cuda/runtime/cuda_device.hpp"
#include "spmm/cuda/runtime/workspace.hpp"
#include "spmm/cuda/sparse/spmm_engine.hpp"
#include "spmm/device/kernels.hpp"

namespace block_eigs::cuda {

/// The instruction set on one GPU. What each kernel does is told in Kernels<T>; here it is only handed on.
template <class T>
class CudaKernels final : public Kernels<T> {
 public:
  explicit CudaKernels(std::shared_ptr<CudaDevice> device);

  std::unique_ptr<SpmmPlan> analyse(const CsrView<T>& a, const SpmmOptions& options) override;
  void spmm(SpmmPlan& plan, const CsrView<T>& a, ConstBlockView<T> b, BlockView<T> c, const ProductStep<T>& step,
            const Progress& progress) override;
  void gather_rows(ConstBlockView<T> x, const LocalIndex* rows, BlockView<T> out, Queue queue) override;

  void gram(const ConstBlockList<T>& left, const ConstBlockList<T>& right, SmallMatrix& result) override;
  void update(const ConstBlockList<T>& in, const SmallMatrix& coefficients, const BlockList<T>& out) override;
  void update_gram(const ConstBlockList<T>& in, const SmallMatrix& coefficients, const BlockList<T>& out,
                   const RowScaling<T>& scaling, const ConstBlockList<T>& left, const ConstBlockList<T>& right,
                   SmallMatrix& result) override;
  void residual(ConstBlockView<T> ax, ConstBlockView<T> bx, std::span<const double> lambda, BlockView<T> r,
                std::span<double> squared_norms) override;
  void update_residual(const ConstBlockList<T>& in, const SmallMatrix& coefficients, const BlockList<T>& out,
                       ConstBlockView<T> bx, std::span<const double> lambda, BlockView<T> r,
                       std::span<double> squared_norms) override;

  void column_dots(ConstBlockView<T> x, ConstBlockView<T> y, std::span<double> dots) override;
  void scale_rows(const T* d, ConstBlockView<T> x, BlockView<T> y) override;
  void axpby(double alpha, ConstBlockView<T> x, double beta, BlockView<T> y) override;
  void combine(const ProductStep<T>& step, ConstBlockView<T> ax, ConstBlockView<T> x, BlockView<T> y) override;
  void copy(ConstBlockView<T> x, BlockView<T> y) override;
  void fill(BlockView<T> y, double value) override;
  void from_columns(const T* columns, std::int64_t leading, BlockView<T> y) override;
  void to_columns(ConstBlockView<T> x, T* columns, std::int64_t leading) override;
  void fill_random(BlockView<T> y, std::uint64_t seed, GlobalIndex first_row) override;
  void convert(ConstBlockView<T> x, std::span<const double> scales, BlockView<float> y) override;
  void convert(ConstBlockView<T> x, std::span<const double> scales, BlockView<double> y) override;

 private:
  cudaStream_t compute() const { return device_->stream(Queue::compute); }
  /// `values` in device memory for the kernels launched next; null where there are none.
  const double* send(std::span<const double> values);
  /// Waits for what kernels hand over, with what there is to be done meanwhile, and copies it.
  void receive(std::span<double> values);

  std::shared_ptr<CudaDevice> device_;
  SpmmEngine<T> spmm_;
  Workspace workspace_;
};

}  // namespace block_eigs::cuda
