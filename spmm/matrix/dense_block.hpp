#pragma once

#include <memory>
#include <vector>

#include "spmm/device/buffer.hpp"
#include "spmm/types.hpp"

namespace block_eigs {

/// Tall dense block that owns its device memory: the calling rank's rows of a set of vectors, row-major,
/// each row padded to a multiple of four columns. Contents are undefined at first, padding always.
template <class T>
class DenseBlock {
 public:
  DenseBlock() = default;
  DenseBlock(std::shared_ptr<Device> device, LocalIndex rows, LocalIndex cols)
      : rows_(rows),
        cols_(cols),
        stride_(padded(cols)),
        buffer_(std::move(device), static_cast<std::size_t>(rows) * static_cast<std::size_t>(stride_)) {}

  LocalIndex rows() const { return rows_; }
  LocalIndex cols() const { return cols_; }
  LocalIndex stride() const { return stride_; }

  BlockView<T> view() { return {buffer_.data(), rows_, cols_, stride_}; }
  ConstBlockView<T> view() const { return {buffer_.data(), rows_, cols_, stride_}; }
  BlockView<T> columns(LocalIndex first, LocalIndex count) { return view().columns(first, count); }
  ConstBlockView<T> columns(LocalIndex first, LocalIndex count) const { return view().columns(first, count); }

  /// Row-major rows() x cols() without padding, to and from host memory. Complete on return.
  std::vector<T> to_host() const;
  void from_host(const T* values);
  /// Rows first .. first + count - 1 alone, to `values` of count x cols().
  void rows_to_host(LocalIndex first, LocalIndex count, T* values) const;

  /// Device memory of a block of so many rows and columns.
  static constexpr std::size_t bytes(LocalIndex rows, LocalIndex cols) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(padded(cols)) * sizeof(T);
  }

  /// Elements of one row in memory: `cols` rounded up to a multiple of four, so that rows begin where 16 bytes can
  /// be loaded at once.
  static constexpr LocalIndex padded(LocalIndex cols) {
    constexpr LocalIndex step = 4;
    return (cols + step - 1) / step * step;
  }

 private:
  LocalIndex rows_ = 0;
  LocalIndex cols_ = 0;
  LocalIndex stride_ = 0;
  Buffer<T> buffer_;
};

}  // namespace block_eigs
