#pragma once

#include <utility>

#include "solver/space/panel.hpp"

namespace block_eigs {

/// A block of vectors V with its images A V and B V, all of one width. With B = identity B V is not stored: it is
/// V. Nor is A V where it is not carried along.
template <class T>
class VectorPanel {
 public:
  /// Room for `capacity` columns, none at first. Collective.
  VectorPanel(BlockSpace<T>& space, LocalIndex capacity, bool with_mass, bool with_a = true,
              DenseBlock<T> room = {})
      : v_(space, capacity, std::move(room)),
        a_(space, with_a ? capacity : 0),
        b_(space, with_mass ? capacity : 0),
        with_a_(with_a),
        with_mass_(with_mass) {}

  LocalIndex cols() const { return v_.cols(); }
  BlockView<T> v() const { return v_.view(); }
  /// Of nobody but who carries it along.
  BlockView<T> a() const { return a_.view(); }
  BlockView<T> b() const { return with_mass_ ? b_.view() : v_.view(); }
  /// V alone, for those who compute its images anew.
  Panel<T>& vectors() { return v_; }

  /// Each of the panels that are stored.
  template <class Function>
  void for_each(const Function& function) {
    function(v_);
    if (with_a_) function(a_);
    if (with_mass_) function(b_);
  }
  /// Starts afresh, contents undefined.
  void set_columns(LocalIndex cols) {
    for_each([&](Panel<T>& panel) { panel.set_columns(cols); });
  }
  /// As many columns of what is there, in the same memory.
  void narrow(LocalIndex first, LocalIndex count) {
    for_each([&](Panel<T>& panel) { panel.narrow(first, count); });
  }
  /// Takes this many columns, written by an update of the old ones in place.
  void widen(LocalIndex cols) {
    for_each([&](Panel<T>& panel) { panel.widen(cols); });
  }
  /// See Panel::compact.
  void compact(BlockSpace<T>& space, LocalIndex room, Panel<T>& spare) {
    for_each([&](Panel<T>& panel) { panel.compact(space, room, spare); });
  }

 private:
  Panel<T> v_, a_, b_;
  bool with_a_;
  bool with_mass_;
};

}  // namespace block_eigs
