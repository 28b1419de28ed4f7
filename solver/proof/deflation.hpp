#pragma once

#include "solver/space/block_space.hpp"
#include "spmm/matrix/linear_operator.hpp"

namespace block_eigs {

/// The projector I - V V^T B that takes B-orthonormal vectors V out of a block. Refers to the vectors.
template <class T>
class Deflation {
 public:
  /// `v`, B-orthonormal, and beside it an orthonormal basis of what `more` has outside its span; B null is the
  /// identity. Collective.
  Deflation(BlockSpace<T>& space, LinearOperator<T>* b, ConstBlockView<T> v, ConstBlockView<T> more);

  ConstBlockList<T> vectors() const { return {v_, more_}; }
  ConstBlockList<T> images() const { return {bv_, bmore_}; }
  /// x <- x - V V^T B x. Collective.
  void remove_from(BlockView<T> x);

 private:
  BlockSpace<T>& space_;
  ConstBlockView<T> v_, more_;
  DenseBlock<T> basis_;                  ///< of `more`
  DenseBlock<T> images_, basis_images_;  ///< where B is not the identity
  ConstBlockView<T> bv_, bmore_;
};

}  // namespace block_eigs
