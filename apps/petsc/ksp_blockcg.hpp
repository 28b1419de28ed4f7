#pragma once

#include <petsc/private/kspimpl.h>

#include <memory>

#include "apps/in_memory/linear_run.hpp"
#include "apps/petsc/type_options.hpp"

namespace block_eigs::petsc {

/// What a set-up was made for: as long as it is the same, the next solve needs no other.
struct MadeFor {
  PetscObjectId matrix = 0;
  PetscObjectState state = 0;  ///< of its entries
  LocalIndex columns = 0;      ///< right-hand sides: what is worth its set-up depends on them
  bool own_preconditioner = false;
  std::string device;
  std::vector<std::string> overrides;

  bool operator==(const MadeFor&) const = default;
};

/// What a KSP of the type blockcg holds.
struct KspBlockcg : TypeOptions {
  bool keep_pc = false;  ///< also one that PETSc takes by default
  MadeFor made_for{};
  std::unique_ptr<LinearSystem<double>> system{};  ///< of the last solve; null: the next one makes it
};

/// KSPSolve and KSPMatSolve of the type: one right-hand side, or the columns of a dense matrix. Collective.
PetscErrorCode solve_blockcg(KSP ksp);
PetscErrorCode solve_blockcg_block(KSP ksp, Mat b, Mat x);
/// Makes KSPSetType(ksp, "blockcg") work. Not collective.
PetscErrorCode register_blockcg();

}  // namespace block_eigs::petsc
