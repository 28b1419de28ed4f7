#pragma once

#include <utility>

#include "solver/space/block_space.hpp"
#include "spmm/matrix/dense_block.hpp"

namespace block_eigs {

/// A block whose number of columns changes while a solver runs: a window on storage that stays.
template <class T>
class Panel {
 public:
  Panel() = default;
  /// Room for `capacity` columns; no columns at first. Collective.
  Panel(BlockSpace<T>& space, LocalIndex capacity) : storage_(space.make_block(capacity)) { set_columns(0); }
  /// The same in the memory of a block of as many rows, and with its contents, if it has `capacity` columns; else
  /// in memory of its own, without them.
  Panel(BlockSpace<T>& space, LocalIndex capacity, DenseBlock<T> block)
      : storage_(block.cols() == capacity ? std::move(block) : space.make_block(capacity)) {
    set_columns(0);
  }

  BlockView<T> view() const { return view_; }
  LocalIndex cols() const { return view_.cols; }
  /// Whether rows begin where the storage's do, as those of set_columns().
  bool is_at_front() const { return view_.data == std::as_const(storage_).view().data; }
  ConstBlockView<T> columns(LocalIndex first, LocalIndex count) const { return view_.columns(first, count); }

  /// Starts afresh with `cols` columns side by side, contents undefined.
  void set_columns(LocalIndex cols) {
    view_ = {storage_.view().data, storage_.rows(), cols, DenseBlock<T>::padded(cols)};
  }
  /// As many columns of what is there, in the same memory.
  void narrow(LocalIndex first, LocalIndex count) { view_ = view_.columns(first, count); }
  /// The same rows and stride with `cols` columns, the new ones undefined; stride must allow it.
  BlockView<T> widened(LocalIndex cols) const { return {view_.data, view_.rows, cols, view_.stride}; }
  void widen(LocalIndex cols) { view_ = widened(cols); }

  /// Moves the columns to the front of rows that hold `room` columns, where that saves a quarter of the memory
  /// traffic or there is no such room. `spare` is swapped in.
  void compact(BlockSpace<T>& space, LocalIndex room, Panel& spare) {
    const LocalIndex stride = DenseBlock<T>::padded(room);
    const bool fits = view_.data - storage_.view().data + room <= view_.stride;
    if (fits && 4 * stride > 3 * view_.stride) return;
    spare.set_columns(room);
    spare.narrow(0, view_.cols);
    if (view_.cols > 0) space.copy(view_, spare.view_);
    std::swap(storage_, spare.storage_);
    std::swap(view_, spare.view_);
  }

 private:
  DenseBlock<T> storage_;
  BlockView<T> view_;
};

}  // namespace block_eigs
