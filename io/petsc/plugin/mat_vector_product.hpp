#pragma once

#include "io/petsc/bridge/petsc_handles.hpp"

namespace block_eigs::petsc {

/// MatMult: y = A x. Returns a PetscErrorCode.
int multiply_vector(_p_Mat* a, _p_Vec* x, _p_Vec* y);
/// MatMultAdd: y = z + A x; z may be y.
int multiply_vector_add(_p_Mat* a, _p_Vec* x, _p_Vec* z, _p_Vec* y);

}  // namespace block_eigs::petsc
