#pragma once

#include <vector>

#include "spmm/small_matrix.hpp"

namespace block_eigs {

/// A Rayleigh-Ritz step on the basis Z = [X P W], in numbers alone. `projected` is Z^T A Z, `gram` is Z^T B Z,
/// close to the identity (its deviation, left over by the orthonormalisation of W, is corrected exactly).
struct RitzProblem {
  SmallMatrix projected;
  SmallMatrix gram;
  int x_columns = 0;     ///< leading columns of Z that are the present Ritz vectors
  int wanted = 0;        ///< new Ritz vectors asked for
  bool largest = false;  ///< take the largest eigenvalues, descending, instead of the smallest, ascending
};

/// [X' P'] = Z coefficients. The columns of [X' P'] are B-orthonormal: P' spans, in the orthogonal complement of
/// X', what P' = X' - X (X^T X') would (Hetmaniuk and Lehoucq, J. Comput. Phys. 218, 2006; the LQ form of Duersch,
/// Shao, Yang, Gu, SIAM J. Sci. Comput. 40, 2018, section 4).
struct RitzSolution {
  SmallMatrix coefficients;       ///< columns of Z x (wanted + p_columns)
  SmallMatrix projected_p;        ///< P'^T A P'
  std::vector<double> values;     ///< wanted Ritz values
  int p_columns = 0;
};

/// Throws RunError when `gram` is not positive definite or holds NaN.
RitzSolution solve_ritz(RitzProblem problem);

}  // namespace block_eigs
