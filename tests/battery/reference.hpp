#pragma once

#include <optional>
#include <vector>

#include "tests/battery/try.hpp"

namespace block_eigs::test {

/// The pencil in other units, which neither overflow nor underflow: A / scale, D A D / scale and D B D with D the
/// inverse root of B's diagonal; column-major is row-major, for all are symmetric.
struct Reference {
  double scale = 1.0;  ///< a power of two: largest entry of A
  std::vector<double> d;
  std::vector<double> exact;  ///< all eigenvalues / scale, ascending; empty where B is not positive definite
  std::vector<double> lower;  ///< Cholesky factor of D B D, column-major; empty without B
  double norm_a = 0.0;        ///< ||A||inf / scale
  double norm_b = 1.0;        ///< ||B||inf
  double mean_row = 0.0;      ///< nonzeros of A in a row
  double condition = 1.0;     ///< of B
  double allowance = 0.0;     ///< rounding errors of an eigenvalue / scale, those of LAPACK among them
};

Reference make_reference(const Try& one);

/// ||A||inf of A / scale.
double infinity_norm(const DenseMatrix& a, double scale);
/// A power of two, of the size of the largest entry.
double scale_of(const DenseMatrix& a);
/// Eigenvalues, ascending, of n x n numbers that are symmetric; NaN where LAPACK fails.
std::vector<double> dense_eigenvalues(std::vector<double> a, int n);
/// a x / scale, row-major blocks of `cols` columns.
std::vector<double> product(const DenseMatrix& a, double scale, const std::vector<double>& x, std::size_t cols);
std::vector<double> column_norms(const std::vector<double>& x, std::size_t cols);

/// Eigenvectors of the `count` eigenvalues at the end that a try asks for, B-orthonormal, row-major n x count.
std::vector<double> leading_eigenvectors(const Try& one, int count);

/// ||L^-1 D r|| of every column of r (row-major n x k), in place.
void weigh_residuals(const Reference& reference, int n, std::vector<double>& residuals);

}  // namespace block_eigs::test
