#pragma once

#include <memory>

#include "spmm/device/device.hpp"
#include "spmm/types.hpp"

// Free of CUDA headers, so that the bench itself is an ordinary program.
namespace block_eigs::bench {

/// The same tall products by cuBLAS: a row-major block is the transpose of a column-major one. All memory is the
/// device's; everything is queued on its compute queue.
template <class T>
class CublasBlock {
 public:
  CublasBlock() = default;
  CublasBlock(const CublasBlock&) = delete;
  CublasBlock& operator=(const CublasBlock&) = delete;
  virtual ~CublasBlock() = default;

  /// result = left^T right, left.cols x right.cols, column-major.
  virtual void gram(ConstBlockView<T> left, ConstBlockView<T> right, T* result) = 0;
  /// out = in coefficients, coefficients being in.cols x out.cols, column-major.
  virtual void update(ConstBlockView<T> in, const T* coefficients, BlockView<T> out) = 0;
};

/// Null where this build has no CUDA or `device` is not a GPU.
template <class T>
std::unique_ptr<CublasBlock<T>> make_cublas_block(const std::shared_ptr<Device>& device);

}  // namespace block_eigs::bench
