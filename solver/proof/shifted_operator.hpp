#pragma once

#include <vector>

#include "solver/proof/deflation.hpp"
#include "solver/proof/probe.hpp"
#include "solver/space/block_space.hpp"

namespace block_eigs {

/// S = A - sigma B (B null: the identity) for smallest pairs, sigma B - A for largest ones, and T = M^-1 S on what
/// is left beside the deflated vectors. Refers to what it is made of.
template <class T>
class ShiftedOperator {
 public:
  /// Work space for `columns`. Collective.
  ShiftedOperator(BlockSpace<T>& space, const ProbeOperators<T>& operators, Deflation<T>& deflation, Which which,
                  double sigma, LocalIndex columns);

  /// s = S x. Collective.
  void shifted(ConstBlockView<T> x, BlockView<T> s);
  /// t = M^-1 s without what lies along deflated vectors. Collective.
  void preconditioned(ConstBlockView<T> s, BlockView<T> t);
  /// y = alpha T x + beta x + gamma y, by one product. Where T = S and deflated vectors are invariant within
  /// rounding these are not taken out. Collective.
  void step(double alpha, double beta, double gamma, BlockView<T> x, BlockView<T> y);

  /// Whether T is S.
  bool plain() const { return operators_.b == nullptr && operators_.preconditioner == nullptr; }
  int products() const { return products_; }

 private:
  BlockSpace<T>& space_;
  const ProbeOperators<T>& operators_;
  Deflation<T>& deflation_;
  double sign_;
  double sigma_;
  DenseBlock<T> ax_, sx_, tx_;
  int products_ = 0;
};

}  // namespace block_eigs
