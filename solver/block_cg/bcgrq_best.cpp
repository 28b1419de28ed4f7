#include "solver/block_cg/bcgrq_best.hpp"

namespace block_eigs::bcgrq {

namespace {

/// Puts the best iterates back in the columns that `wanted` says. Whether there were any.
template <class T, class Wanted>
bool restore_where(BlockSpace<T>& space, Sides<T>& sides, const Wanted& wanted) {
  if (!sides.best.known) return false;
  bool restored = false;
  for (LocalIndex j = 0; j < sides.count(); ++j) {
    if (!wanted(sides.columns[static_cast<std::size_t>(j)])) continue;
    if (sides.best.is_zero) {
      space.kernels().fill(sides.x.columns(j, 1), 0.0);
    } else {
      space.copy(sides.best.x.columns(j, 1), sides.x.columns(j, 1));
    }
    restored = true;
  }
  return restored;
}

/// Of residuals that both are rounding errors: how many times as large as that of the best one.
constexpr double far_behind = 2.0;

}  // namespace

template <class T>
void note_start(BlockSpace<T>& space, Sides<T>& sides) {
  BestIterates<T>& best = sides.best;
  if (best.known) return note_best(space, sides);
  best.known = true;
  best.is_zero = sides.starts_at_zero;
  for (Column& column : sides.columns) {
    column.best_norm = column.true_norm;
    column.best_settled = column.settled;
  }
  if (best.is_zero) return;
  if (best.x.cols() < sides.count()) best.x = space.make_block(sides.count());
  space.copy(sides.x, best.x.columns(0, sides.count()));
}

template <class T>
void note_best(BlockSpace<T>& space, Sides<T>& sides) {
  BestIterates<T>& best = sides.best;
  if (best.x.cols() < sides.count()) best.x = space.make_block(sides.count());
  if (best.is_zero) space.kernels().fill(best.x.view(), 0.0);
  best.is_zero = false;
  for (LocalIndex j = 0; j < sides.count(); ++j) {
    Column& column = sides.columns[static_cast<std::size_t>(j)];
    if (!(column.true_norm <= column.best_norm)) continue;
    space.copy(sides.x.columns(j, 1), best.x.columns(j, 1));
    column.best_norm = column.true_norm;
    column.best_settled = column.settled;
  }
}

template <class T>
bool restore_best(BlockSpace<T>& space, Sides<T>& sides) {
  return restore_where(space, sides, [](const Column& column) {
    return column.outcome == Outcome::not_converged && !(column.true_norm <= column.best_norm);
  });
}

template <class T>
bool restore_settled(BlockSpace<T>& space, Sides<T>& sides) {
  return restore_where(space, sides, [](const Column& column) {
    return column.outcome == Outcome::at_accuracy_limit && column.best_settled &&
           column.true_norm > far_behind * column.best_norm;
  });
}

template void note_start(BlockSpace<float>&, Sides<float>&);
template void note_start(BlockSpace<double>&, Sides<double>&);
template void note_best(BlockSpace<float>&, Sides<float>&);
template void note_best(BlockSpace<double>&, Sides<double>&);
template bool restore_best(BlockSpace<float>&, Sides<float>&);
template bool restore_settled(BlockSpace<float>&, Sides<float>&);
template bool restore_best(BlockSpace<double>&, Sides<double>&);
template bool restore_settled(BlockSpace<double>&, Sides<double>&);

}  // namespace block_eigs::bcgrq
