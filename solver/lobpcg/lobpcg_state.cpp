#include "solver/lobpcg/lobpcg_state.hpp"

#include <algorithm>

namespace block_eigs {

template <class T>
LobpcgState<T>::LobpcgState(BlockSpace<T>& space, LocalIndex width, LocalIndex kept, bool with_mass)
    : x(space, width),
      p(space, width),
      w(space, width),
      r(space, width),
      ax(space, width),
      ap(space, width),
      aw(space, width),
      space_(space),
      with_mass_(with_mass),
      spare_(space, width),
      kept_(space.make_block(kept)) {
  if (!with_mass) return;
  bx_ = Panel<T>(space, width);
  bp_ = Panel<T>(space, width);
  bw_ = Panel<T>(space, width);
  b_kept_ = space.make_block(kept);
}

template <class T>
void LobpcgState<T>::set_x_columns(LocalIndex cols) {
  x.set_columns(cols);
  ax.set_columns(cols);
  if (with_mass_) bx_.set_columns(cols);
}

template <class T>
void LobpcgState<T>::set_w_columns(LocalIndex cols) {
  w.set_columns(cols);
  aw.set_columns(cols);
  if (with_mass_) bw_.set_columns(cols);
}

template <class T>
void LobpcgState<T>::narrow_w(LocalIndex cols) {
  w.narrow(0, cols);
  aw.narrow(0, cols);
  if (with_mass_) bw_.narrow(0, cols);
}

template <class T>
void LobpcgState<T>::drop_p() {
  p.set_columns(0);
  ap.set_columns(0);
  if (with_mass_) bp_.set_columns(0);
}

template <class T>
void LobpcgState<T>::lock(LocalIndex count, LocalIndex width) {
  if (count > 0) {
    space_.copy(x.columns(0, count), kept_storage(kept_cols_, count));
    if (with_mass_) space_.copy(bx_.columns(0, count), b_kept_storage(kept_cols_, count));
    kept_cols_ += count;
  }
  const LocalIndex left = x.cols() - count;
  const auto move_up = [&](Panel<T>& panel) {
    panel.narrow(count, left);
    panel.compact(space_, width, spare_);
  };
  move_up(x);
  move_up(ax);
  if (with_mass_) move_up(bx_);
  r.narrow(count, left);
  const LocalIndex p_room = std::max(p.cols(), width);
  p.compact(space_, p_room, spare_);
  ap.compact(space_, p_room, spare_);
  if (with_mass_) bp_.compact(space_, p_room, spare_);
}

template <class T>
void LobpcgState<T>::set_widths(LocalIndex x_cols, LocalIndex p_cols) {
  x.widen(x_cols);
  ax.widen(x_cols);
  p.widen(p_cols);
  ap.widen(p_cols);
  if (!with_mass_) return;
  bx_.widen(x_cols);
  bp_.widen(p_cols);
}

template class LobpcgState<float>;
template class LobpcgState<double>;

}  // namespace block_eigs
