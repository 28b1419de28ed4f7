#pragma once

#include <string>

#include "spmm/matrix/csr_rows.hpp"
#include "spmm/matrix/grid_levels.hpp"
#include "spmm/parallel/communicator.hpp"
#include "spmm/parallel/partition.hpp"

namespace block_eigs::petsc {

/// Who coarsens, and what it may know of the problem.
struct HierarchyOptions {
  std::string builder = "gamg";   ///< gamg: smoothed aggregation (PETSc); hypre: BoomerAMG
  NearNullSpace near_null_space;  ///< rows of every rank are a multiple of its unknowns a node
  std::string options;  ///< further PETSc options, "-pc_gamg_threshold 0.02", put behind the defaults chosen here
};

/// Levels of an algebraic multigrid method for the matrix with the calling rank's rows `rows`, set up by PETSc and
/// copied out, coarser levels on the ranks where PETSc put them. Collective; throws InputError on unknown
/// builders, or where this build or PETSc lacks what is needed, RunError where PETSc fails.
GridHierarchy build_hierarchy(const Communicator& comm, const CsrRows& rows, const Partition& partition,
                              const HierarchyOptions& options);

}  // namespace block_eigs::petsc
