#include "io/petsc/bridge/petsc_inertia.hpp"

#include <petscmat.h>

#include <memory>
#include <string>

#include "io/petsc/bridge/petsc_matrix.hpp"
#include "io/petsc/bridge/petsc_session.hpp"
#include "spmm/error.hpp"

namespace block_eigs::petsc {

namespace {

constexpr const char* counting = "factorising A - sigma B";

/// A - sigma B as PETSc holds it.
OwnedMat shifted(const Communicator& comm, const CsrRows& rows_a, const CsrRows* rows_b,
                 const Partition& partition, double sigma) {
  OwnedMat a = make_aij(comm, rows_a, partition);
  if (rows_b != nullptr) {
    const OwnedMat b = make_aij(comm, *rows_b, partition);
    check(MatAXPY(a.get(), -sigma, b.get(), DIFFERENT_NONZERO_PATTERN), counting);
  } else {
    check(MatShift(a.get(), -sigma), counting);
  }
  check(MatSetOption(a.get(), MAT_SYMMETRIC, PETSC_TRUE), counting);
  return a;
}

/// Not factorised yet.
OwnedMat make_factor(Mat a) {
  Mat factor = nullptr;
  check(MatGetFactor(a, MATSOLVERMUMPS, MAT_FACTOR_CHOLESKY, &factor), counting);
  OwnedMat owned(factor);
  check(MatMumpsSetIcntl(factor, 13, 1), counting);   // the root on one process: else its pivots are not counted
  check(MatMumpsSetIcntl(factor, 24, 1), counting);   // null pivots are detected and counted
  check(MatMumpsSetIcntl(factor, 14, 50), counting);  // per cent more memory than was foreseen, for pivoting
  return owned;
}

/// Throws what MUMPS has to complain about, on all ranks.
void check_factor(const Communicator& comm, Mat factor) {
  MatFactorError error = MAT_FACTOR_NOERROR;
  check(MatFactorGetError(factor, &error), counting);
  const bool memory = comm.any(error == MAT_FACTOR_OUTMEMORY);
  if (!comm.any(error != MAT_FACTOR_NOERROR)) return;
  PetscInt info = 0;
  check(MatMumpsGetInfog(factor, 1, &info), counting);
  comm.collectively([&] {
    throw RunError(std::string(counting) + (memory ? ": out of memory" : " failed") + " (MUMPS INFOG(1) = " +
                   std::to_string(info) + "); use verify: probe, which needs no factorisation, or more nodes");
  });
}

}  // namespace

void require_inertia(const Communicator& comm) {
  initialize(comm);
  check(MatInitializePackage(), "starting PETSc");  // which is when solvers register
  PetscBool package = PETSC_FALSE;
  PetscBool type = PETSC_FALSE;
  check(MatSolverTypeGet(MATSOLVERMUMPS, comm.size() > 1 ? MATMPIAIJ : MATSEQAIJ, MAT_FACTOR_CHOLESKY, &type,
                         &package, nullptr),
        "asking PETSc for MUMPS");
  comm.collectively([&] {
    require(type == PETSC_TRUE,
            "eigensolver.verify: inertia needs MUMPS, which this PETSc lacks; build PETSc with --download-mumps "
            "--download-scalapack or take Debian's libpetsc-real-dev, or use verify: probe");
  });
}

Inertia inertia(const Communicator& comm, const CsrRows& rows_a, const CsrRows* rows_b, const Partition& partition,
                double sigma) {
  require_inertia(comm);
  const OwnedMat a = shifted(comm, rows_a, rows_b, partition, sigma);
  const OwnedMat factor = make_factor(a.get());
  MatFactorInfo info{};
  check(MatFactorInfoInitialize(&info), counting);
  check(MatCholeskyFactorSymbolic(factor.get(), a.get(), nullptr, &info), counting);
  check_factor(comm, factor.get());
  check(MatCholeskyFactorNumeric(factor.get(), a.get(), &info), counting);
  check_factor(comm, factor.get());
  PetscInt below = 0;
  PetscInt at = 0;
  PetscInt above = 0;
  check(MatGetInertia(factor.get(), &below, &at, &above), counting);
  return {below, at, above};
}

}  // namespace block_eigs::petsc
