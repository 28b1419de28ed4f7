#include <petscmat.h>

#include "io/petsc/plugin/gpu_product.hpp"

// Stands in where PETSc or this build has no CUDA: whatever PETSc holds on a GPU comes through its host copies.
namespace block_eigs::petsc {

bool on_gpu(std::initializer_list<_p_Vec*>) { return false; }
bool on_gpu(std::initializer_list<_p_Mat*>) { return false; }

int set_up_on_gpu(_p_Mat*) { return PETSC_ERR_SUP; }
int multiply_vector_on_gpu(_p_Mat*, _p_Vec*, _p_Vec*, _p_Vec*) { return PETSC_ERR_SUP; }
int multiply_block_on_gpu(_p_Mat*, _p_Mat*, _p_Mat*) { return PETSC_ERR_SUP; }

}  // namespace block_eigs::petsc
