#pragma once

#include "spmm/small_matrix.hpp"

namespace block_eigs {

/// What rounding errors of a x come to, over |a| |x|: some units, or more where rows are long. Errors of sums of m
/// terms grow with the root of m as in a random walk, and do so where x is constant, as kernels of graphs are.
double product_rounding(const SmallMatrix& a);

}  // namespace block_eigs
