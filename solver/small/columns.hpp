#pragma once

#include <span>
#include <vector>

#include "spmm/small_matrix.hpp"

// Small matrices by their columns.
namespace block_eigs {

/// The first `count` columns, or the first `rows` rows of these.
SmallMatrix leading_columns(const SmallMatrix& matrix, int count);
SmallMatrix leading_block(const SmallMatrix& matrix, int rows, int count);

/// These columns, in this order.
SmallMatrix columns_of(const SmallMatrix& matrix, std::span<const int> columns);

/// Sums of absolute values; of a symmetric matrix those of the rows are the same.
std::vector<double> column_sums(const SmallMatrix& matrix);

/// The largest of them, the 1-norm; of a symmetric matrix no eigenvalue is larger.
double norm_one(const SmallMatrix& matrix);

}  // namespace block_eigs
