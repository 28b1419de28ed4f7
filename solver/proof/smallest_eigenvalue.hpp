#pragma once

#include "solver/space/block_space.hpp"
#include "spmm/device/buffer.hpp"
#include "spmm/matrix/linear_operator.hpp"

namespace block_eigs {

/// A lower bound of the eigenvalues of D B D that holds with probability 1 - probability, D = diag(scale), from
/// the largest Ritz value xi of k <= 100 steps of Lanczos for upper I - D B D, which no eigenvalue exceeds `upper`
/// allows to be negative: xi / (1 - epsilon) is above its largest eigenvalue but for a probability of 1.648
/// sqrt(n) exp(-sqrt(epsilon) (2 k - 1)) (Kuczynski and Wozniakowski, SIAM J. Matrix Anal. Appl. 13, 1992,
/// theorem 4.2). NaN where no positive bound comes of it. `scale` holds the own rows of D. Collective.
double probable_smallest_eigenvalue(BlockSpace<double>& space, LinearOperator<double>& b,
                                    const Buffer<double>& scale, double upper, double probability);

}  // namespace block_eigs
