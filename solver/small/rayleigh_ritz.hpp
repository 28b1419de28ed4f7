#pragma once

#include <functional>
#include <vector>

#include "solver/space/block_space.hpp"
#include "spmm/small_matrix.hpp"

namespace block_eigs {

/// A Rayleigh-Ritz step on the basis Z = [X P W], in numbers alone: `projected` is Z^T A Z, `gram` is Z^T B Z. W
/// need not be orthogonal to anything, so long as the basis is well conditioned.
struct RitzProblem {
  SmallMatrix projected;
  SmallMatrix gram;
  int x_columns = 0;  ///< leading columns of Z, present Ritz vectors, whose changes the new P is made of
  int wanted = 0;     ///< new Ritz vectors asked for
  /// The columns of Z scaled to norm 1: least squared sine of the angle between one and the span of those before
  /// it that is accepted. About epsilon over it of orthogonality is lost.
  double smallest_pivot = 0.0;
  bool largest = false;  ///< take the largest eigenvalues, descending, instead of the smallest, ascending
  /// Covariance of the rounding errors of X and P in units of epsilon^2, the columns of Z before W; zero where it
  /// is empty.
  SmallMatrix errors{};
};

/// [X' P'] = Z coefficients. The columns of [X' P'] are B-orthonormal: P' spans, in the orthogonal complement of
/// X', what P' = X' - X (X^T X') would (Hetmaniuk and Lehoucq, J. Comput. Phys. 218, 2006; the LQ form of Duersch,
/// Shao, Yang, Gu, SIAM J. Sci. Comput. 40, 2018, section 4).
struct RitzSolution {
  SmallMatrix coefficients;    ///< columns of Z x (wanted + p_columns)
  SmallMatrix projected_p;     ///< P'^T A P'
  std::vector<double> values;  ///< wanted Ritz values
  int p_columns = 0;
  /// Covariance of the errors of [X' P'], see carried_errors; on rank 0 alone.
  SmallMatrix errors{};
  double amplification = 1.0;  ///< its largest diagonal entry
};

/// Returns a solution without values when the basis is worse conditioned than `smallest_pivot` allows, or its Gram
/// matrix is not positive definite or not finite.
RitzSolution solve_ritz(RitzProblem problem);

/// Rounding errors of [X' P'] = Z C: those of X and P by the same coefficients, and a new unit for every column of
/// Z, as long as it is: C1^T errors C1 + C^T D C, C1 the rows of C for X and P, D the diagonal of the Gram matrix.
/// What grows in it is lost of the orthogonality of [X' P'], epsilon times, and of what it is orthogonal to.
SmallMatrix carried_errors(const SmallMatrix& errors, const SmallMatrix& coefficients,
                           const std::vector<double>& squared_norms);

/// Poses and solves the small problem on rank 0; the solution on all ranks. Collective.
template <class T>
RitzSolution solve_ritz_on_root(BlockSpace<T>& space, const std::function<RitzProblem()>& pose);

}  // namespace block_eigs
