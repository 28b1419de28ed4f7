#pragma once

#include <vector>

#include "spmm/small_matrix.hpp"

namespace block_eigs {

/// A set of vectors V with Gram matrix G, in terms of better ones: V = W factor, W = V transform. The first
/// `independent` columns of W are orthonormal and span as many columns of V; the others are the rest of the
/// remaining columns of V outside that span, each relative to the length of its own column.
struct GramFactor {
  SmallMatrix transform;
  SmallMatrix factor;
  int independent = 0;
  double smallest_pivot = 0.0;  ///< of the scaled G among the columns left over; 1 where there are none
};

/// Pivoted Cholesky factorisation of the symmetric G, scaled to unit diagonal, as far as squared pivots reach
/// `accept`. Columns without a positive diagonal count as zero.
GramFactor factor_gram(const SmallMatrix& gram, double accept);

/// Orthonormal columns that span the columns of `vectors` up to a rest no longer than `enough` in each, found
/// greedily. Rounding errors do not count.
SmallMatrix leading_directions(SmallMatrix vectors, double enough);

/// Inverse of a symmetric positive definite matrix whose entries are known to `epsilon` relative to its diagonal;
/// without columns where it is not positive definite within that.
SmallMatrix inverse_spd(const SmallMatrix& matrix, double epsilon);

}  // namespace block_eigs
