#include "solver/small/basis_factor.hpp"

#include <algorithm>
#include <utility>

#include "solver/small/lapack.hpp"

namespace block_eigs {

namespace {

SmallMatrix part(const SmallMatrix& matrix, int row, int rows, int column, int columns) {
  SmallMatrix result(rows, columns);
  for (int j = 0; j < columns; ++j) std::copy_n(matrix.column(column + j) + row, rows, result.column(j));
  return result;
}

void put(const SmallMatrix& part, int row, int column, SmallMatrix& matrix) {
  for (int j = 0; j < part.cols(); ++j) std::copy_n(part.column(j), part.rows(), matrix.column(column + j) + row);
}

void take_off(const SmallMatrix& other, SmallMatrix& matrix) {
  const auto values = other.values();
  for (std::size_t k = 0; k < values.size(); ++k) matrix.values()[k] -= values[k];
}

/// The leading rows and columns of which the matrix is I.
int leading_identity(const SmallMatrix& matrix) {
  for (int j = 0; j < matrix.cols(); ++j) {
    if (matrix(j, j) != 1.0) return j;
    for (int i = 0; i < j; ++i) {
      if (matrix(i, j) != 0.0 || matrix(j, i) != 0.0) return j;
    }
  }
  return matrix.cols();
}

}  // namespace

std::optional<BasisFactor> factor_basis(const SmallMatrix& gram, double smallest_pivot) {
  const int known = leading_identity(gram);
  const int rest = gram.rows() - known;
  BasisFactor factor{part(gram, known, rest, 0, known), part(gram, known, rest, known, rest)};
  if (known > 0) take_off(lapack::product(factor.beside, false, factor.beside, true), factor.lower);
  if (!lapack::cholesky(factor.lower)) return std::nullopt;
  for (int j = 0; j < rest; ++j) {
    if (factor.lower(j, j) * factor.lower(j, j) < smallest_pivot) return std::nullopt;
  }
  if (known > 0 && smallest_pivot > 1.0) return std::nullopt;
  return factor;
}

/// Rows below take off C times those above, columns likewise, and what is left below is divided by L.
void divide_by_factor(const BasisFactor& factor, SmallMatrix& matrix) {
  const int known = factor.known();
  const int rest = factor.lower.rows();
  if (known == 0) return lapack::divide_by_factor(factor.lower, matrix);
  SmallMatrix before = part(matrix, known, rest, 0, known);
  SmallMatrix own = part(matrix, known, rest, known, rest);
  take_off(lapack::product(factor.beside, false, before, true), own);
  take_off(lapack::product(factor.beside, false, part(matrix, 0, known, 0, known), false), before);
  take_off(lapack::product(before, false, factor.beside, true), own);
  lapack::solve_lower(factor.lower, before);
  lapack::divide_by_factor(factor.lower, own);
  put(before, known, 0, matrix);
  put(own, known, known, matrix);
}

void solve_transposed(const BasisFactor& factor, SmallMatrix& x) {
  const int known = factor.known();
  if (known == 0) return lapack::solve_lower_transposed(factor.lower, x);
  SmallMatrix below = part(x, known, factor.lower.rows(), 0, x.cols());
  lapack::solve_lower_transposed(factor.lower, below);
  put(below, known, 0, x);
  const SmallMatrix above = lapack::product(factor.beside, true, below, false);
  for (int j = 0; j < x.cols(); ++j) {
    for (int i = 0; i < known; ++i) x(i, j) -= above(i, j);
  }
}

}  // namespace block_eigs
