#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace block_eigs {

/// Index of a row or column within one rank; at most 2^31 - 1 rows a rank.
using LocalIndex = std::int32_t;
/// Index of a row or column of the whole matrix.
using GlobalIndex = std::int64_t;
/// Position in an array of nonzeros.
using Offset = std::int64_t;

/// Tall dense block in row-major order: element (i, j) is data[i * stride + j], stride >= cols.
/// The memory belongs to someone else and lives where the Device of its owner puts it.
template <class T>
struct ConstBlockView {
  const T* data = nullptr;
  LocalIndex rows = 0;
  LocalIndex cols = 0;
  LocalIndex stride = 0;

  ConstBlockView columns(LocalIndex first, LocalIndex count) const {
    assert(first >= 0 && count >= 0 && first + count <= cols);
    return {data + first, rows, count, stride};
  }
  ConstBlockView row_range(LocalIndex first, LocalIndex count) const {
    assert(first >= 0 && count >= 0 && first + count <= rows);
    return {data + static_cast<Offset>(first) * stride, count, cols, stride};
  }
};

/// As ConstBlockView, writable.
template <class T>
struct BlockView {
  T* data = nullptr;
  LocalIndex rows = 0;
  LocalIndex cols = 0;
  LocalIndex stride = 0;

  BlockView columns(LocalIndex first, LocalIndex count) const {
    assert(first >= 0 && count >= 0 && first + count <= cols);
    return {data + first, rows, count, stride};
  }
  BlockView row_range(LocalIndex first, LocalIndex count) const {
    assert(first >= 0 && count >= 0 && first + count <= rows);
    return {data + static_cast<Offset>(first) * stride, count, cols, stride};
  }
  operator ConstBlockView<T>() const { return {data, rows, cols, stride}; }
};

/// Up to six blocks of equal height side by side, read as one wide block. Blocks without columns are
/// left out. Trivially copyable, so that it travels to a GPU kernel by value.
template <class View>
class ViewList {
 public:
  static constexpr int capacity = 6;

  ViewList(std::initializer_list<View> views) {
    for (const View& view : views) {
      if (view.cols == 0) continue;
      assert(size_ < capacity);
      views_[static_cast<std::size_t>(size_++)] = view;
      cols_ += view.cols;
    }
  }

  int size() const { return size_; }
  LocalIndex cols() const { return cols_; }
  LocalIndex rows() const { return size_ == 0 ? 0 : views_[0].rows; }
  const View& operator[](int i) const { return views_[static_cast<std::size_t>(i)]; }
  const View* begin() const { return views_.data(); }
  const View* end() const { return views_.data() + size_; }

 private:
  std::array<View, capacity> views_{};
  int size_ = 0;
  LocalIndex cols_ = 0;
};

template <class T>
using ConstBlockList = ViewList<ConstBlockView<T>>;
template <class T>
using BlockList = ViewList<BlockView<T>>;

}  // namespace block_eigs
