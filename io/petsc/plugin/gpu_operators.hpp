#pragma once

#include "io/petsc/plugin/mat_operators.hpp"

namespace block_eigs::petsc {

/// The operators for arrays in the memory of PETSc's GPU that are kept with `a`, an assembled AIJ matrix: a copy
/// of it on that GPU, made by the first call and after a change of the pattern; numbers that may have changed
/// since the last call are sent again. Products are ordered with PETSc's work on the GPU and return before they
/// are done. Collective. Throws RunError, InputError where the GPU is too old.
MatOperators& gpu_operators_of(_p_Mat* a);

}  // namespace block_eigs::petsc
