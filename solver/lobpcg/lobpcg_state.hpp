#pragma once

#include <vector>

#include "solver/lobpcg/lobpcg.hpp"
#include "solver/space/panel.hpp"

namespace block_eigs {

/// Blocks of one lobpcg run. With B = identity the B-images are not stored: bx() is x() and so on.
template <class T>
class LobpcgState {
 public:
  /// `width` columns at work, `kept` columns of constraints, locked pairs and the final block. Collective.
  LobpcgState(BlockSpace<T>& space, LocalIndex width, LocalIndex kept, bool with_mass);

  Panel<T> x, p, w, r;
  Panel<T> ax, ap, aw;

  BlockView<T> bx() const { return with_mass_ ? bx_.view() : x.view(); }
  BlockView<T> bp() const { return with_mass_ ? bp_.view() : p.view(); }
  BlockView<T> bw() const { return with_mass_ ? bw_.view() : w.view(); }
  bool with_mass() const { return with_mass_; }

  /// Constraints, then locked eigenvectors, and their B-images.
  ConstBlockView<T> kept() const { return kept_.columns(0, kept_cols_); }
  ConstBlockView<T> b_kept() const { return with_mass_ ? b_kept_.columns(0, kept_cols_) : kept(); }
  LocalIndex kept_columns() const { return kept_cols_; }
  /// Columns [first, first + count) of the storage of kept(), whatever they hold.
  BlockView<T> kept_storage(LocalIndex first, LocalIndex count) { return kept_.columns(first, count); }
  BlockView<T> b_kept_storage(LocalIndex first, LocalIndex count) {
    return with_mass_ ? b_kept_.columns(first, count) : kept_.columns(first, count);
  }
  void set_kept_columns(LocalIndex cols) { kept_cols_ = cols; }

  /// `cols` fresh columns in x, ax, bx or in w, aw, bw.
  void set_x_columns(LocalIndex cols);
  void set_w_columns(LocalIndex cols);
  void narrow_w(LocalIndex cols);
  void drop_p();

  /// Moves the leading `count` columns of x to the end of kept(), and makes room for `width` columns in x.
  void lock(LocalIndex count, LocalIndex width);
  /// x, p and their images take these numbers of columns, written by an update of the old ones in place.
  void set_widths(LocalIndex x_cols, LocalIndex p_cols);

 private:
  BlockSpace<T>& space_;
  bool with_mass_;
  Panel<T> spare_;
  Panel<T> bx_, bp_, bw_;
  DenseBlock<T> kept_, b_kept_;
  LocalIndex kept_cols_ = 0;
};

}  // namespace block_eigs
