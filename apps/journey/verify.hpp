#pragma once

#include <optional>
#include <vector>

#include "apps/input/problem.hpp"
#include "apps/report/proof.hpp"
#include "apps/report/verification.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "solver/space/block_space.hpp"
#include "spmm/matrix/dense_block.hpp"

namespace block_eigs {

/// What residuals are held against.
struct RowNorms {
  double largest = 0.0;  ///< ||A||_inf
  double typical = 0.0;  ///< of A, see LinearOperator::typical_row_sum
};
template <class T>
RowNorms row_norms(const LinearOperator<T>& a) {
  return {a.norm_inf(), a.typical_row_sum()};
}

/// Verifies `vectors` (own rows of n x k), by the norms of A or by those of its other rows, where some are no
/// measure of anything. With `rayleigh` the eigenvalues are replaced by (v'A v) / (v'B v), which is far better
/// than what single precision had.
///
/// Some eigenvalue lies within ||r||_{B^-1} / ||v||_B of lambda (Parlett, The Symmetric Eigenvalue Problem,
/// theorems 4.5.1 and 15.9.1). With B = I rounding in r is allowed for. With D^-1/2 B D^-1/2 >= mu > 0, D the
/// diagonal of B, ||r||_{B^-1} <= ||D^-1/2 r||_2 / sqrt(mu). mu is Gershgorin's where B is diagonally dominant,
/// else what probable_smallest_eigenvalue gives; where that is nothing no bound is known. Collective.
template <class T>
Verification verify(Problem<double>& problem, const DenseBlock<T>& vectors, const std::vector<double>& eigenvalues,
                    bool rayleigh, const LobpcgOptions& options, const std::optional<RowNorms>& norms = {});

/// As many of the last pairs as are missing before them are not what was asked for: they have not converged.
void give_up_missing(Verification& pairs, const Proof& proof);

/// Brings pairs whose eigenvalues changed places by a better evaluation into order, vectors included. Collective.
template <class T>
void sort_pairs(BlockSpace<T>& space, Verification& pairs, DenseBlock<T>& vectors, Which which);

}  // namespace block_eigs
