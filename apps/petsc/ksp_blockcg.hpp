#pragma once

#include <petsc/private/kspimpl.h>

#include <string>
#include <vector>

namespace block_eigs::petsc {

/// What a KSP of the type blockcg holds.
struct KspBlockcg {
  std::vector<std::string> overrides;  ///< of the config: "linear_solver.preconditioner.type=amg"
  bool keep_pc = false;                ///< also one that PETSc takes by default
  // Of the last solve, for KSPView.
  std::vector<std::string> notes;
  std::string device;
  double setup_seconds = 0.0;
  double solve_seconds = 0.0;
};

/// KSPSolve and KSPMatSolve of the type: one right-hand side, or the columns of a dense matrix. Collective.
PetscErrorCode solve_blockcg(KSP ksp);
PetscErrorCode solve_blockcg_block(KSP ksp, Mat b, Mat x);
/// Makes KSPSetType(ksp, "blockcg") work. Not collective.
PetscErrorCode register_blockcg();

}  // namespace block_eigs::petsc
