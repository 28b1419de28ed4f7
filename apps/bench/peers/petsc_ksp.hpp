#pragma once

#include <string>
#include <vector>

#include "apps/bench/contest.hpp"
#include "spmm/matrix/csr_rows.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs::bench {

/// How PETSc gets the right-hand sides.
enum class KspUse {
  one_by_one,  ///< KSPSolve for each
  together     ///< KSPMatSolve with all
};

/// Whether this build has PETSc, and that PETSc a solver of this name ("cg", "hpddm").
bool have_ksp(const Communicator& comm, const std::string& type);
/// Likewise of a preconditioner ("hypre").
bool have_pc(const Communicator& comm, const std::string& type);

/// PETSc's KSP for A X = F, set up from `rows` in every run, starting from zero. `f` holds the own rows of F,
/// row-major, `sides` columns. `options` is a string of PETSc options and is all that sets the solver apart from
/// its defaults, the tolerance apart. `mat_type`: "aij", or "aijcusparse" for a matrix and vectors on a GPU, where
/// F is before the clock starts. `rows` and `f` must outlive the contender. Throws InputError without PETSc.
Contender ksp_contender(const Communicator& comm, const CsrRows& rows, const std::vector<double>& f, int sides,
                        double tolerance, int max_iterations, const std::string& name, KspUse use,
                        const std::string& options, const std::string& mat_type);

/// Ends PETSc if it was started; before MPI_Finalize.
void end_petsc();

}  // namespace block_eigs::bench
