#pragma once

#include <vector>

#include "spmm/small_matrix.hpp"

namespace block_eigs {

/// Rows that entries of a or b couple, directly or through others: ascending lists, the one with the first row
/// first. `b` may be without rows.
std::vector<std::vector<int>> components_of(const SmallMatrix& a, const SmallMatrix& b);

/// The same as lowest_dense_vectors, of each component by itself: errors of its values are relative to its own
/// norm, so that large ones hide nothing of small ones, and the time is that of their orders cubed. Throws as that
/// does.
SmallMatrix lowest_by_components(const SmallMatrix& a, const SmallMatrix& b, int count, double tolerance,
                                 double enough);

}  // namespace block_eigs
