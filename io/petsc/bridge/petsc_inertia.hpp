#pragma once

#include <cstdint>
#include <memory>

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
/// eigenvalue than these. One analysis serves all sigma.
class InertiaCounter {
 public:
  /// Analyses A - sigma B, and factorises nothing yet. `rows_a` and `rows_b` are the calling rank's, dealt by
  /// `partition`, and kept by reference. Collective; throws InputError as require_inertia, RunError where the
  /// analysis fails, on all ranks.
  InertiaCounter(const Communicator& comm, const CsrRows& rows_a, const CsrRows* rows_b,
                 const Partition& partition, double sigma);
  ~InertiaCounter();
  InertiaCounter(const InertiaCounter&) = delete;
  InertiaCounter& operator=(const InertiaCounter&) = delete;

  /// Memory that a factorisation takes of the calling process beside what is there now, by MUMPS's analysis, in
  /// bytes. It may be many times that of A. Not collective.
  double factor_bytes() const;

  /// Collective; throws RunError on all ranks where the limits of a process (`ulimit -v`), of its control group or
  /// of the node leave less than factor_bytes, before anything is factorised, and where the factorisation fails.
  Inertia count(double sigma);

 private:
  struct Factor;
  std::unique_ptr<Factor> factor_;
};

/// One count. Arguments and errors as those of InertiaCounter. Collective.
Inertia inertia(const Communicator& comm, const CsrRows& rows_a, const CsrRows* rows_b, const Partition& partition,
                double sigma);

}  // namespace block_eigs::petsc
