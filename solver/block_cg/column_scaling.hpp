#pragma once

#include <vector>

#include "solver/space/block_space.hpp"

namespace block_eigs {

/// The norms of columns, ldexp(scaled_norms[j], exponents[j]), and powers of two that keep squares of their
/// entries in the range of T: exponents[j] is 0 where that needs no scaling, else scaled_norms[j] lies in [1, 2).
/// Not finite where an entry is not.
struct ColumnScaling {
  std::vector<double> scaled_norms;
  std::vector<int> exponents;

  bool needed() const;
  double norm(std::size_t j) const;
  /// 2^exponents[j], or the inverse, of `count` columns from `first` on.
  std::vector<double> factors(std::size_t first, std::size_t count, bool inverse) const;
};

/// Of any block. Where squares leave the range of T it takes another block of up to `width` columns for a while.
/// Collective; throws RunError on all ranks (memory).
template <class T>
ColumnScaling column_scaling(BlockSpace<T>& space, ConstBlockView<T> x, LocalIndex width);

}  // namespace block_eigs
