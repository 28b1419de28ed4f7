#include "solver/block_cg/block_storage.hpp"

#include <algorithm>

namespace block_eigs::bcgrq {

template <class T>
BlockStorage<T>::BlockStorage(BlockSpace<T>& space, const ColumnScaling& scaling, LocalIndex width)
    : space_(space), scaling_(scaling) {
  const bool parts = static_cast<LocalIndex>(scaling.exponents.size()) > width;
  if (scaling.needed()) f_ = space.make_block(width);
  if (scaling.needed() || parts) x_ = space.make_block(width);
}

template <class T>
bool BlockStorage<T>::scaled(LocalIndex first, LocalIndex count) const {
  const auto begin = scaling_.exponents.begin() + first;
  return std::any_of(begin, begin + count, [](int exponent) { return exponent != 0; });
}

template <class T>
Sides<T> BlockStorage<T>::take(ConstBlockView<T> f, BlockView<T> x, LocalIndex first) {
  Sides<T> sides{f, x, false, {}, {}, {}};
  const auto begin = static_cast<std::size_t>(first);
  const auto count = static_cast<std::size_t>(x.cols);
  if (x_.cols() > 0) sides.x = x_.columns(0, x.cols);
  if (scaled(first, x.cols)) {
    const std::vector<double> factors = scaling_.factors(begin, count, true);
    const BlockView<T> copy = f_.columns(0, x.cols);
    space_.kernels().convert(f, factors, copy);
    space_.kernels().convert(x, factors, sides.x);
    sides.f = copy;
  } else if (x_.cols() > 0) {
    space_.copy(x, sides.x);
  }
  sides.columns.resize(count);
  for (std::size_t j = 0; j < count; ++j) sides.columns[j].rhs_norm = scaling_.scaled_norms[begin + j];
  return sides;
}

template <class T>
bool BlockStorage<T>::give_back(Sides<T>& sides, BlockView<T> x, LocalIndex first) {
  if (scaled(first, x.cols)) {
    const auto begin = static_cast<std::size_t>(first);
    const auto count = static_cast<std::size_t>(x.cols);
    space_.kernels().convert(sides.x, scaling_.factors(begin, count, false), x);
    space_.kernels().convert(x, scaling_.factors(begin, count, true), sides.x);
    return true;
  }
  if (x_.cols() > 0) space_.copy(sides.x, x);
  return false;
}

template class BlockStorage<float>;
template class BlockStorage<double>;

}  // namespace block_eigs::bcgrq
