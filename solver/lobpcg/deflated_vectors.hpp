#pragma once

#include <stdexcept>
#include <vector>

#include "solver/space/block_space.hpp"

namespace block_eigs {

/// B-orthonormal vectors that the iteration stays orthogonal to, side by side, with their images under B:
/// constraints first, locked eigenvectors behind them. With B = identity the images are the vectors.
template <class T>
class DeflatedVectors {
 public:
  /// Room for `capacity` columns, none at first. Collective.
  DeflatedVectors(BlockSpace<T>& space, LocalIndex capacity, bool with_mass)
      : v_(space.make_block(capacity)), b_(space.make_block(with_mass ? capacity : 0)), with_mass_(with_mass) {}

  LocalIndex cols() const { return cols_; }
  LocalIndex constraints() const { return constraints_; }
  LocalIndex locked() const { return cols_ - constraints_; }
  ConstBlockView<T> v() const { return v_.columns(0, cols_); }
  ConstBlockView<T> b() const { return with_mass_ ? b_.columns(0, cols_) : v(); }
  /// Locked vectors [first, first + count).
  BlockView<T> locked_v(LocalIndex first, LocalIndex count) { return v_.columns(constraints_ + first, count); }
  BlockView<T> locked_b(LocalIndex first, LocalIndex count) {
    return with_mass_ ? b_.columns(constraints_ + first, count) : locked_v(first, count);
  }

  /// The constraints that have been written to the first columns of `storage`.
  void set_constraints(LocalIndex count) { cols_ = constraints_ = count; }
  BlockView<T> storage(LocalIndex count) { return v_.columns(0, count); }
  BlockView<T> b_storage(LocalIndex count) { return with_mass_ ? b_.columns(0, count) : storage(count); }

  /// Appends the columns of x, B x being bx. On all ranks alike.
  void append(BlockSpace<T>& space, ConstBlockView<T> x, ConstBlockView<T> bx) {
    if (x.cols == 0) return;
    if (cols_ + x.cols > v_.cols())
      throw std::logic_error("lobpcg: more vectors are deflated than there is room for");
    space.copy(x, v_.columns(cols_, x.cols));
    if (with_mass_) space.copy(bx, b_.columns(cols_, x.cols));
    cols_ += x.cols;
  }
  /// Of the locked vectors those with staying[j], moved together.
  void retain_locked(BlockSpace<T>& space, const std::vector<bool>& staying);

 private:
  DenseBlock<T> v_, b_;
  bool with_mass_;
  LocalIndex cols_ = 0;
  LocalIndex constraints_ = 0;
};

template <class T>
void DeflatedVectors<T>::retain_locked(BlockSpace<T>& space, const std::vector<bool>& staying) {
  LocalIndex to = 0;
  for (LocalIndex from = 0; from < static_cast<LocalIndex>(staying.size()); ++from) {
    if (!staying[static_cast<std::size_t>(from)]) continue;
    if (from != to) {
      space.copy(locked_v(from, 1), locked_v(to, 1));
      if (with_mass_) space.copy(locked_b(from, 1), locked_b(to, 1));
    }
    ++to;
  }
  cols_ = constraints_ + to;
}

}  // namespace block_eigs
