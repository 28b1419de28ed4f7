#pragma once

#include "solver/factors/factorization.hpp"
#include "spmm/matrix/csr_rows.hpp"

namespace block_eigs {

/// What factors of a symmetric matrix, all of whose rows are here, come to at least, as far as a breadth-first
/// search tells: rows that only hang on others one by one cost nothing, and of what is left half of the widest
/// level is about the size of a separator (George, SIAM J. Numer. Anal. 10, 1973), whose rows come to be coupled
/// with one another. No bound, but mostly too little: of a mesh with s points a side s^2/8 entries, where an
/// ordering of a random graph, whose levels are nearly all of it, takes seconds before it says that it has none.
/// In the time of some passes over the rows. Not collective.
factors::FactorSize least_factors(const CsrRows& rows);

}  // namespace block_eigs
