#pragma once

#include "io/petsc/bridge/petsc_handles.hpp"

namespace block_eigs::petsc {

/// What PETSc asks before a product with a dense matrix on either side (MatProductSetFromOptions_..._C): A B is
/// ours, a block product; other products are those of the parent type. `c` is the product to be. Returns a
/// PetscErrorCode (an int, or an enumeration of that size).
int set_dense_product(_p_Mat* c);

}  // namespace block_eigs::petsc
