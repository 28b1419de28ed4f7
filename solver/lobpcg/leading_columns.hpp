#pragma once

#include <utility>

#include "spmm/matrix/dense_block.hpp"

namespace block_eigs {

/// The first columns of a block, which may become the memory of a panel with what is in it.
template <class T>
struct LeadingColumns {
  DenseBlock<T> block{};
  LocalIndex cols = block.cols();

  ConstBlockView<T> view() const { return block.columns(0, cols); }
  /// Whether they are in memory of their own still.
  bool are_apart() const { return block.cols() > 0; }
  /// The block, if it has as many columns; else it stays.
  DenseBlock<T> take(LocalIndex width) {
    return block.cols() == width ? std::exchange(block, DenseBlock<T>{}) : DenseBlock<T>{};
  }
};

}  // namespace block_eigs
