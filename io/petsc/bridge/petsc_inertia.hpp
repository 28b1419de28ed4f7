#pragma once

#include <cstdint>

#include "spmm/matrix/csr_rows.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs::petsc {

/// Eigenvalues of a symmetric pencil on either side of a number, with their multiplicities.
struct Inertia {
  std::int64_t below = 0;
  std::int64_t at = 0;  ///< that cannot be told from the number itself
  std::int64_t above = 0;
};

/// Throws InputError, saying what to install, unless this build has a PETSc with MUMPS. Collective.
void require_inertia(const Communicator& comm);

/// Counts the eigenvalues of A x = lambda B x below sigma, B symmetric positive definite (null: the identity), by
/// Sylvester's law of inertia: as many as negative pivots of A - sigma B = L D L^T, which MUMPS computes. The
/// factors are exact for a matrix within rounding errors of this one, so that sigma must be farther from any
/// eigenvalue than these. `rows_a` and `rows_b` are the calling rank's, dealt by `partition`. Fill may take many
/// times the memory of A. Collective; throws InputError as require_inertia, RunError where the factorisation fails
/// or finds no memory.
Inertia inertia(const Communicator& comm, const CsrRows& rows_a, const CsrRows* rows_b, const Partition& partition,
                double sigma);

}  // namespace block_eigs::petsc
