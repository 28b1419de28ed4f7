#pragma once

#include "solver/lobpcg/ritz_pairs.hpp"
#include "solver/space/rounding_probe.hpp"

namespace block_eigs {

/// How large || |A| |x| || and || |B| |x| || are, which rounding errors in A x and B x are relative to: at most
/// ||A|| ||x|| and ||B|| ||x||. Where a few rows are far larger than the others, and x is small there, these say
/// nothing (penalties on boundary nodes, matrices D A D); RoundingProbe then takes two products with either matrix
/// to say more.
template <class T>
class ProductSizes {
 public:
  /// Kept by reference; `b` null is the identity. Takes no memory before the first probe.
  ProductSizes(BlockSpace<T>& space, LinearOperator<T>& a, LinearOperator<T>* b);

  /// The bounds, for lists of the length of pairs.values.
  void bound(const ResidualTest& test, RitzPairs& pairs) const;
  /// The bounds; or estimates, where some outcome hangs on them. Those of another step still count while no
  /// residual has fallen to half of what it was then, for a few steps. `x` holds the vectors of the pairs, and is
  /// as before afterwards; `spare` is used up. Collective; throws RunError on all ranks (memory).
  void measure(const ResidualTest& test, BlockView<T> x, BlockView<T> spare, RitzPairs& pairs);

 private:
  bool due(const ResidualTest& test, const RitzPairs& bounds, const std::vector<double>& probed) const;

  RoundingProbe<T> probe_a_;
  RoundingProbe<T> probe_b_;
  bool with_mass_;
  int since_ = 0;  ///< steps since the last probe
};

}  // namespace block_eigs
