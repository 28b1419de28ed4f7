#pragma once

#include <initializer_list>

#include "io/petsc/bridge/petsc_handles.hpp"

// Products of a Mat of type blockcsr on the GPU, where PETSc has CUDA and so has this build; else
// gpu_product_unavailable.cpp stands in, and all products are made on the host. Functions that take part in a
// product are collective and return a PetscErrorCode.
namespace block_eigs::petsc {

/// Whether all of these are of PETSc's CUDA types and multiplied on the GPU: a question of their types alone, so
/// that all ranks decide alike. Null pointers are left out. Not collective; throws RunError.
bool on_gpu(std::initializer_list<_p_Vec*> vectors);
bool on_gpu(std::initializer_list<_p_Mat*> blocks);

/// What the first product sets up.
int set_up_on_gpu(_p_Mat* a);
/// y = A x, or y = z + A x where z is given; z may be y.
int multiply_vector_on_gpu(_p_Mat* a, _p_Vec* x, _p_Vec* z, _p_Vec* y);
/// C = A B.
int multiply_block_on_gpu(_p_Mat* a, _p_Mat* b, _p_Mat* c);

}  // namespace block_eigs::petsc
