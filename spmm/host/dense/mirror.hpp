#pragma once

#include <algorithm>
#include <utility>

#include "spmm/small_matrix.hpp"
#include "spmm/types.hpp"

// Which blocks of a product [x]^T [y] are transposes of others, because the same views stand on both sides.
namespace block_eigs::host {

template <class T>
bool same(ConstBlockView<T> x, ConstBlockView<T> y) {
  return x.data == y.data && x.cols == y.cols && x.stride == y.stride;
}

/// Position of `view` in `list`, -1 where it is not there.
template <class T>
int position_of(ConstBlockView<T> view, const ConstBlockList<T>& list) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](ConstBlockView<T> other) { return same(view, other); });
  return found == list.end() ? -1 : static_cast<int>(found - list.begin());
}

/// Whether block x[i]^T y[j] is the transpose of an earlier block, or of itself.
enum class Mirror { none, earlier, itself };

template <class T>
Mirror mirror(const ConstBlockList<T>& x, int i, const ConstBlockList<T>& y, int j) {
  const std::pair transposed(position_of(y[j], x), position_of(x[i], y));
  if (transposed.first < 0 || transposed.second < 0 || transposed > std::pair(i, j)) return Mirror::none;
  return transposed == std::pair(i, j) ? Mirror::itself : Mirror::earlier;
}

/// [x]^T [y], or its transpose where `transposed`: element (i, j) is that of column i of x and column j of y.
class ProductView {
 public:
  ProductView(SmallMatrix& matrix, bool transposed) : matrix_(matrix), transposed_(transposed) {}
  double& operator()(int i, int j) const { return transposed_ ? matrix_(j, i) : matrix_(i, j); }

 private:
  SmallMatrix& matrix_;
  bool transposed_;
};

template <class T>
int columns_before(int i, const ConstBlockList<T>& list) {
  int columns = 0;
  for (int k = 0; k < i; ++k) columns += list[k].cols;
  return columns;
}

/// Copies blocks that mirror others, and the lower triangle of those that mirror themselves.
template <class T>
void copy_mirrored(const ConstBlockList<T>& x, const ConstBlockList<T>& y, const ProductView& product) {
  for (int i = 0; i < x.size(); ++i) {
    for (int j = 0; j < y.size(); ++j) {
      const Mirror kind = mirror(x, i, y, j);
      if (kind == Mirror::none) continue;
      const int row = columns_before(i, x);
      const int column = columns_before(j, y);
      const int from_row = columns_before(position_of(y[j], x), x);
      const int from_column = columns_before(position_of(x[i], y), y);
      for (int c = 0; c < y[j].cols; ++c) {
        for (int r = kind == Mirror::itself ? c + 1 : 0; r < x[i].cols; ++r) {
          product(row + r, column + c) = product(from_row + c, from_column + r);
        }
      }
    }
  }
}

}  // namespace block_eigs::host
