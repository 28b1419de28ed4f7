#pragma once

#include <vector>

#include "solver/space/block_space.hpp"
#include "spmm/small_matrix.hpp"

namespace block_eigs {

/// An orthonormal basis V that grows by blocks, with V^T A V.
template <class T>
struct DavidsonBasis {
  DenseBlock<T> storage;
  LocalIndex cols = 0;
  SmallMatrix projected;  ///< V^T A V, cols x cols

  ConstBlockView<T> v() const { return storage.columns(0, cols); }
  LocalIndex room() const { return storage.cols() - cols; }
};

/// Room for `capacity` columns, none at first. Collective; throws on all ranks when one is out of memory.
template <class T>
DavidsonBasis<T> make_davidson_basis(BlockSpace<T>& space, LocalIndex capacity) {
  return {space.make_block(capacity), 0, {}};
}

/// Makes the columns of `w` orthonormal, and orthogonal to `outside` (orthonormal, orthogonal to V) and V, and
/// appends them; there is room for them. What depends on the others is dropped. One product with A for each
/// column, by way of `image`, of as many columns as w. Returns how many have come. Collective; throws
/// NumericalError where values are not finite.
template <class T>
LocalIndex append(BlockSpace<T>& space, LinearOperator<T>& a, DavidsonBasis<T>& basis, ConstBlockView<T> outside,
                  BlockView<T> w, BlockView<T> image);

/// All Ritz pairs: eigenvalues of sign V^T A V, ascending, and its eigenvectors.
struct DavidsonRitz {
  std::vector<double> values;
  SmallMatrix vectors;

  /// Columns first .. first + count - 1 of the vectors.
  SmallMatrix columns(int first, int count) const;
};

/// Collective; throws NumericalError on all ranks where values are not finite.
template <class T>
DavidsonRitz rayleigh_ritz(BlockSpace<T>& space, const DavidsonBasis<T>& basis, double sign);

/// Thick restart: V becomes the Ritz vectors of the `count` lowest of these pairs. Not collective.
template <class T>
void restart(BlockSpace<T>& space, DavidsonBasis<T>& basis, const DavidsonRitz& ritz, double sign,
             LocalIndex count);

}  // namespace block_eigs
