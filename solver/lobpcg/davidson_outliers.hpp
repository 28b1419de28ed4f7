#pragma once

#include "solver/lobpcg/davidson_filters.hpp"

// Eigenvalues that lie far beyond all others at the end that is not wanted: those of hubs of a graph, of
// penalties, of rows that couple to very many. A filter is small on an interval that ends with the last of them,
// and needs as many times the degrees as the root of its length says, where Krylov spaces find each in a few steps
// and see the others as if it was not there. So they are found by some block Krylov steps and taken out of what
// filters make (Zhou and Saad, SIAM J. Matrix Anal. Appl. 29, 2007, take out locked vectors in the same way).
namespace block_eigs {

/// Looks for them by as many columns of a Krylov space as `basis`, which is empty, has room for, or by six
/// steps where these say that there are none. Where it pays it.outliers holds their eigenvectors from then on, and
/// it.bounds ends before them; `basis` holds the lowest Ritz vectors of that space, and else nothing. W and the
/// spare block are used up. Collective.
template <class T>
void take_out_outliers(Davidson<T>& it, DavidsonBasis<T>& basis);

}  // namespace block_eigs
