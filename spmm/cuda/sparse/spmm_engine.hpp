#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "spmm/cuda/runtime/cuda_device.hpp"
#include "spmm/device/kernels.hpp"

namespace block_eigs::cuda {

/// Sparse times tall-skinny dense on one GPU: what CudaKernels forwards its `analyse` and `spmm` to.
/// CSR with 64-bit row offsets, 32-bit columns; B and C row-major with strides. Row-split (in strips of four rows
/// for dense bands) and merge-based, after Yang, Buluç, Owens, Design Principles for Sparse Matrix Multiplication
/// on the GPU (2018). All are deterministic: sums over a row are formed in an order that the plan and the column
/// count fix.
template <class T>
class SpmmEngine {
 public:
  /// `stream` is the device's compute queue; it must outlive the engine. The device is the calling thread's
  /// current one.
  SpmmEngine(cudaStream_t stream, std::shared_ptr<CudaDevice> device);

  /// What the products will need to know of the pattern; the values may change afterwards. Throws RunError when
  /// device memory runs out.
  std::unique_ptr<SpmmPlan> analyse(const CsrView<T>& a, const SpmmOptions& options);

  /// C = A B and what `step` adds, queued on the stream. `plan` is what `analyse` made of `a`. b.rows ==
  /// a.columns; b and c have the same number of columns and do not overlap. Rows of C outside a.row_map stay as
  /// they are. Throws RunError where rows lie farther apart than 4 GiB.
  /// `betas`: those of the step in device memory, with three zeros behind them; null for none.
  void spmm(SpmmPlan& plan, const CsrView<T>& a, ConstBlockView<T> b, BlockView<T> c, const ProductStep<T>& step,
            const double* betas);

 private:
  cudaStream_t stream_;
  std::shared_ptr<CudaDevice> device_;
  int multiprocessors_;
  int bytes_of_l2_;
  bool multiplies_doubles_fast_;  ///< else thick bundles do not pay
};

}  // namespace block_eigs::cuda
