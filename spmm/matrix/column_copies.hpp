#pragma once

#include <memory>

#include "spmm/device/buffer.hpp"
#include "spmm/device/device.hpp"
#include "spmm/types.hpp"

namespace block_eigs {

/// Copies of blocks, by rows and maybe on a GPU, in host memory by columns and in double, as other libraries take
/// them: element (i, j) of the calling rank's at i + j * rows. Not collective.
template <class T>
class ColumnCopies {
 public:
  explicit ColumnCopies(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  /// columns = x. Complete on return.
  void give(ConstBlockView<T> x, double* columns);
  /// y = sign columns. Complete on return.
  void take(const double* columns, BlockView<T> y, double sign = 1.0);

 private:
  T* stage(ConstBlockView<T> view);
  void fetch(T* to, ConstBlockView<T> view);

  std::shared_ptr<Device> device_;
  StagingBuffer<T> staging_;  ///< page-locked, for a view of a GPU's
};

}  // namespace block_eigs
