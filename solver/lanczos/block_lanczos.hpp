#pragma once

#include <functional>
#include <vector>

#include "solver/lanczos/lanczos_shape.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/matrix/dense_block.hpp"
#include "spmm/matrix/linear_operator.hpp"

namespace block_eigs {

/// Where it stands after a Rayleigh-Ritz step: the pairs that are to come back, as far as it has them, largest
/// value first.
struct LanczosPairs {
  std::vector<double> values;
  std::vector<double> residuals;  ///< ||M x - value x||_B with ||x||_B = 1
  int complete = 0;               ///< of the wanted ones, those before any that may be there more often
  int solves = 0;                 ///< columns multiplied with M since the step before
};

/// Vectors, in the order of their values, which are those of M, and nearly orthonormal.
template <class T>
struct LanczosVectors {
  DenseBlock<T> vectors;
  std::vector<double> values;
};

/// The largest residual of a pair with that value that is good enough, positive.
using LanczosLimit = std::function<double(double value)>;
/// Told after every step; ends it on `false`. On every rank, with the same numbers and to answer alike.
using LanczosObserver = std::function<bool(const LanczosPairs&)>;

/// Vectors of the largest eigenvalues of M = inverse B, positive and self-adjoint in the inner product of B, such
/// as (A - sigma B)^-1 B: thick-restart block Lanczos (Grimes, Lewis, Simon, SIAM J. Matrix Anal. Appl. 15, 1994;
/// Wu, Simon, SIAM J. Matrix Anal. Appl. 22, 2000) with full reorthogonalisation, random blocks to begin with and
/// more of them where an eigenvalue, as far as `limit` tells it from others, seems to be there as often as a block
/// is wide. Pairs whose values are so much larger than the others that their rounding errors would hide these are
/// locked, with residuals of 1e-8 of their values whatever the limit. The other vectors come back with one more
/// step of M behind them, all in the order of their values, not orthonormal, and without columns where the space
/// is too small for a basis: the wanted pairs that are not locked are within `limit` unless the steps were used
/// up, the observer or who runs the program wanted an end, or nothing new came. `b` null is the identity;
/// `constraints` (own rows of n x c, or null) are kept out. Memory beside these: the basis, shape.capacity
/// columns, with B twice, and a few blocks. Collective. Throws RunError (memory, and what `inverse` throws),
/// InputError (B not positive definite), NumericalError (values that are not finite), on all ranks.
template <class T>
LanczosVectors<T> block_lanczos(BlockSpace<T>& space, LinearOperator<T>& inverse, LinearOperator<T>* b,
                                const DenseBlock<T>* constraints, const LanczosOptions& options,
                                const LanczosLimit& limit, const LanczosObserver& observer = {});

}  // namespace block_eigs
