#pragma once

#include <string>
#include <vector>

#include "apps/bench/contest.hpp"
#include "spmm/matrix/csr_rows.hpp"
#include "spmm/parallel/communicator.hpp"

namespace block_eigs::bench {

/// False where the build has no SLEPc; then slepc_contender throws.
bool have_slepc();
/// Whether there is SLEPc on a PETSc that has a preconditioner of this name ("hypre").
bool have_slepc_with(const Communicator& comm, const std::string& preconditioner);

/// SLEPc's EPS for the `pairs` smallest eigenvalues, set up from `rows` in every run. `options` is a string of
/// PETSc options and is all that sets the solver apart from its defaults: type, preconditioner, block size. PETSc
/// is initialised at the first use. `mat_type` is the type of the matrix, and by that of the vectors: "aij", or
/// "aijcusparse" for those on a GPU. `rows` must outlive the contender.
Contender slepc_contender(const Communicator& comm, const CsrRows& rows, int pairs, double tolerance,
                          int max_iterations, const std::string& name, const std::string& options,
                          const std::string& mat_type);

/// Ends SLEPc if it was started; before MPI_Finalize.
void end_slepc();

}  // namespace block_eigs::bench
