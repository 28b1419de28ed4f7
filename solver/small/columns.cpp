#include "solver/small/columns.hpp"

#include <algorithm>
#include <cmath>

namespace block_eigs {

SmallMatrix leading_columns(const SmallMatrix& matrix, int count) {
  return leading_block(matrix, matrix.rows(), count);
}

SmallMatrix leading_block(const SmallMatrix& matrix, int rows, int count) {
  SmallMatrix part(rows, count);
  for (int j = 0; j < count; ++j) std::copy_n(matrix.column(j), rows, part.column(j));
  return part;
}

SmallMatrix columns_of(const SmallMatrix& matrix, std::span<const int> columns) {
  SmallMatrix part(matrix.rows(), static_cast<int>(columns.size()));
  for (int j = 0; j < part.cols(); ++j)
    std::copy_n(matrix.column(columns[static_cast<std::size_t>(j)]), matrix.rows(), part.column(j));
  return part;
}

std::vector<double> column_sums(const SmallMatrix& matrix) {
  std::vector<double> sums;
  for (int j = 0; j < matrix.cols(); ++j) {
    double sum = 0.0;
    for (int i = 0; i < matrix.rows(); ++i) sum += std::abs(matrix(i, j));
    sums.push_back(sum);
  }
  return sums;
}

double norm_one(const SmallMatrix& matrix) {
  const std::vector<double> sums = column_sums(matrix);
  return sums.empty() ? 0.0 : *std::max_element(sums.begin(), sums.end());
}

}  // namespace block_eigs
