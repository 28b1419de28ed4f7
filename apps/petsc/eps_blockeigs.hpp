#pragma once

#include <slepc/private/epsimpl.h>

namespace block_eigs::petsc {

/// EPSSolve of the type; collective.
PetscErrorCode solve_blockeigs(EPS eps);
/// Makes EPSSetType(eps, "blockeigs") work. Not collective.
PetscErrorCode register_blockeigs();

}  // namespace block_eigs::petsc
