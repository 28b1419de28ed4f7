#pragma once

#include <cstdint>
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
  bool largest = false;    ///< take the largest eigenvalues, descending, instead of the smallest, ascending
  SmallMatrix errors{};    ///< of X and P, the columns of Z before W, see carried_errors; none where it is empty
  std::uint64_t seed = 0;  ///< of the signs of new errors
};

/// [X' P'] = Z coefficients. The columns of [X' P'] are B-orthonormal: P' spans, in the orthogonal complement of
/// X', what P' = X' - X (X^T X') would (Hetmaniuk and Lehoucq, J. Comput. Phys. 218, 2006; the LQ form of Duersch,
/// Shao, Yang, Gu, SIAM J. Sci. Comput. 40, 2018, section 4).
struct RitzSolution {
  SmallMatrix coefficients;    ///< columns of Z x (wanted + p_columns)
  SmallMatrix projected_p;     ///< P'^T A P'
  std::vector<double> values;  ///< wanted Ritz values
  int p_columns = 0;
  SmallMatrix errors{};        ///< of [X' P'], see carried_errors; maybe on rank 0 alone
  double amplification = 1.0;  ///< the largest mean square of a row of them
};

/// Returns a solution without values when the basis is worse conditioned than `smallest_pivot` allows, or its Gram
/// matrix is not positive definite or not finite.
RitzSolution solve_ritz(RitzProblem problem);

/// A few samples of the rounding errors of [X' P'] = Z C along one direction, in units of epsilon, a column each:
/// those of X and P (`errors`, leading rows of Z) by the same coefficients, and for every column of Z a new one of
/// either sign, as large as the column: C^T ([errors; 0] + N). Their mean squares are the diagonal of the
/// covariance S' = C1^T S C1 + C^T D C, C1 the rows of C for X and P and D the diagonal of the Gram matrix, at a
/// tenth of its cost. What grows in it is lost of the orthogonality of [X' P'], epsilon times, and of what it is
/// orthogonal to.
SmallMatrix carried_errors(const SmallMatrix& errors, const SmallMatrix& coefficients,
                           const std::vector<double>& squared_norms, std::uint64_t seed);

/// Poses and solves the small problem, by BlockSpace::solve_small. Collective.
template <class T>
RitzSolution solve_ritz_for_all(BlockSpace<T>& space, const std::function<RitzProblem()>& pose);

}  // namespace block_eigs
