#pragma once

#include <petsc/private/kspimpl.h>

#include "apps/petsc/type_options.hpp"

namespace block_eigs::petsc {

/// What a KSP of the type blockcg holds.
struct KspBlockcg : TypeOptions {
  bool keep_pc = false;  ///< also one that PETSc takes by default
};

/// KSPSolve and KSPMatSolve of the type: one right-hand side, or the columns of a dense matrix. Collective.
PetscErrorCode solve_blockcg(KSP ksp);
PetscErrorCode solve_blockcg_block(KSP ksp, Mat b, Mat x);
/// Makes KSPSetType(ksp, "blockcg") work. Not collective.
PetscErrorCode register_blockcg();

}  // namespace block_eigs::petsc
