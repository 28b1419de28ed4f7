// Entry of libblock_eigs_ksp.so.
#include "apps/petsc/block_eigs_ksp.h"
#include "apps/petsc/ksp_blockcg.hpp"
#include "apps/petsc/loaded_petsc.hpp"

namespace {

constexpr const char* name = "libblock_eigs_ksp";

}  // namespace

extern "C" {

PetscErrorCode PetscDLLibraryRegister_block_eigs_ksp(void) {
  const PetscErrorCode wrong = block_eigs::petsc::check_loaded_petsc(name, __builtin_return_address(0));
  return wrong != 0 ? wrong : block_eigs::petsc::register_blockcg();
}

PetscErrorCode KSPRegisterBlockCG(void) {
  const PetscErrorCode wrong = block_eigs::petsc::check_petsc_version(name);
  return wrong != 0 ? wrong : block_eigs::petsc::register_blockcg();
}
}
