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
  double condition = 1.0;     ///< of B
  double allowance = 0.0;     ///< rounding errors of an eigenvalue / scale, those of LAPACK among them
};

Reference make_reference(const Try& one);

/// ||L^-1 D r|| of every column of r (row-major n x k), in place.
void weigh_residuals(const Reference& reference, int n, std::vector<double>& residuals);

}  // namespace block_eigs::test
