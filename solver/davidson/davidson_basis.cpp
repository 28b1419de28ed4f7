#include "solver/davidson/davidson_basis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "solver/small/lapack.hpp"
#include "solver/space/orthonormalize.hpp"
#include "spmm/error.hpp"

namespace block_eigs {

SmallMatrix DavidsonRitz::columns(int first, int count) const {
  SmallMatrix part(vectors.rows(), count);
  for (int j = 0; j < count; ++j) std::copy_n(vectors.column(first + j), vectors.rows(), part.column(j));
  return part;
}

namespace {

/// W <- (W - V (V^T W)) D, V all that is in `others`, D such that what is left has length one. What filters bring
/// forth lies along V for the most part, the more so the closer Ritz vectors are: how far columns depend on each
/// other is asked of what is left.
template <class T>
void project(BlockSpace<T>& space, const ConstBlockList<T>& others, BlockView<T> w) {
  SmallMatrix gram;
  space.gram({others[0], others.size() > 1 ? others[1] : ConstBlockView<T>{}, w}, {w}, gram);
  const int known = gram.rows() - w.cols;
  SmallMatrix coefficients(gram.rows(), w.cols);
  for (int j = 0; j < w.cols; ++j) {
    const double squared = gram(known + j, j);
    if (!std::isfinite(squared))
      throw NumericalError("davidson: a filtered vector holds values that are not finite");
    double left = squared;
    for (int i = 0; i < known; ++i) left -= gram(i, j) * gram(i, j);
    // Less than that is rounding errors of what was taken away.
    const double epsilon = std::numeric_limits<T>::epsilon();
    left = std::max(left, epsilon * epsilon * squared);
    const double scale = left > 0.0 ? 1.0 / std::sqrt(left) : 0.0;
    for (int i = 0; i < known; ++i) coefficients(i, j) = -scale * gram(i, j);
    coefficients(known + j, j) = scale;
  }
  space.update({others[0], others.size() > 1 ? others[1] : ConstBlockView<T>{}, w}, coefficients, {w});
}

}  // namespace

template <class T>
LocalIndex append(BlockSpace<T>& space, LinearOperator<T>& a, DavidsonBasis<T>& basis, ConstBlockView<T> outside,
                  BlockView<T> w, BlockView<T> image) {
  const ConstBlockList<T> others{outside, basis.v()};
  // A projection leaves rounding errors of what it takes away along V, which the second pass takes out. What is
  // left of them nobody would correct later: pairs that are done would come back as new ones.
  if (others.size() > 0) project(space, others, w);
  const LocalIndex count = orthonormalize<T>(space, others, w, w, others, Orthonormality::to_rounding);
  if (count == 0) return 0;
  if (count > basis.room()) throw std::logic_error("davidson: more columns than the basis has room for");
  w = w.columns(0, count);
  image = image.columns(0, count);
  a.apply(w, image);
  space.copy(w, basis.storage.columns(basis.cols, count));
  const LocalIndex before = basis.cols;
  basis.cols += count;
  SmallMatrix products;
  space.gram({basis.v()}, {image}, products);
  SmallMatrix projected(basis.cols, basis.cols);
  for (int j = 0; j < before; ++j) std::copy_n(basis.projected.column(j), before, projected.column(j));
  for (int j = 0; j < count; ++j) {
    for (int i = 0; i < before; ++i) projected(i, before + j) = projected(before + j, i) = products(i, j);
    for (int i = 0; i < count; ++i)
      projected(before + i, before + j) = 0.5 * (products(before + i, j) + products(before + j, i));
  }
  basis.projected = std::move(projected);
  return count;
}

template <class T>
DavidsonRitz rayleigh_ritz(BlockSpace<T>& space, const DavidsonBasis<T>& basis, double sign) {
  DavidsonRitz ritz;
  SmallMatrix values;
  space.solve_small(
      [&] {
        ritz.vectors = basis.projected;
        for (double& value : ritz.vectors.values()) value *= sign;
        const std::vector<double> found = lapack::symmetric_eigen(ritz.vectors);
        values.resize(static_cast<int>(found.size()), 1);
        std::copy(found.begin(), found.end(), values.data());
      },
      {&ritz.vectors, &values});
  ritz.values.assign(values.values().begin(), values.values().end());
  return ritz;
}

template <class T>
void restart(BlockSpace<T>& space, DavidsonBasis<T>& basis, const DavidsonRitz& ritz, double sign,
             LocalIndex count) {
  space.update({basis.v()}, ritz.columns(0, count), {basis.storage.columns(0, count)});
  basis.cols = count;
  basis.projected = SmallMatrix(count, count);
  for (int j = 0; j < count; ++j) basis.projected(j, j) = sign * ritz.values[static_cast<std::size_t>(j)];
}

template LocalIndex append(BlockSpace<float>&, LinearOperator<float>&, DavidsonBasis<float>&,
                           ConstBlockView<float>, BlockView<float>, BlockView<float>);
template DavidsonRitz rayleigh_ritz(BlockSpace<float>&, const DavidsonBasis<float>&, double);
template void restart(BlockSpace<float>&, DavidsonBasis<float>&, const DavidsonRitz&, double, LocalIndex);
template LocalIndex append(BlockSpace<double>&, LinearOperator<double>&, DavidsonBasis<double>&,
                           ConstBlockView<double>, BlockView<double>, BlockView<double>);
template DavidsonRitz rayleigh_ritz(BlockSpace<double>&, const DavidsonBasis<double>&, double);
template void restart(BlockSpace<double>&, DavidsonBasis<double>&, const DavidsonRitz&, double, LocalIndex);

}  // namespace block_eigs
