#pragma once

#include "solver/block_cg/bcgrq_state.hpp"
#include "solver/block_cg/column_scaling.hpp"

namespace block_eigs::bcgrq {

/// Where a block of right-hand sides and its solutions are while they are worked on: in the caller's blocks, or in
/// own ones, in contiguous rows where the block is a part of many right-hand sides, and scaled where their squares
/// would leave the range of T.
template <class T>
class BlockStorage {
 public:
  /// For right-hand sides with this `scaling`, kept by reference, `width` of them at a time. Collective; throws
  /// RunError on all ranks (memory).
  BlockStorage(BlockSpace<T>& space, const ColumnScaling& scaling, LocalIndex width);

  /// Those from `first` on, f and x being the caller's blocks.
  Sides<T> take(ConstBlockView<T> f, BlockView<T> x, LocalIndex first);
  /// The solutions of `sides` to the caller's x. Whether they were scaled: then sides.x holds what x is when
  /// scaled, which may be another, as a scaled number may be out of range.
  bool give_back(Sides<T>& sides, BlockView<T> x, LocalIndex first);

 private:
  bool scaled(LocalIndex first, LocalIndex count) const;

  BlockSpace<T>& space_;
  const ColumnScaling& scaling_;
  DenseBlock<T> f_;
  DenseBlock<T> x_;
};

}  // namespace block_eigs::bcgrq
