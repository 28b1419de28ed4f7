#ifndef BLOCK_EIGS_KSP_H
#define BLOCK_EIGS_KSP_H

/* For PETSc programs in C or C++ that link libblock_eigs_ksp: the KSP type "blockcg" without -dll_append. */

#include <petscksp.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes KSPSetType(ksp, "blockcg") and -ksp_type blockcg work. After PetscInitialize, once; not collective. An error
   where PETSc is not of the version that the library was built for. */
__attribute__((visibility("default"))) PetscErrorCode KSPRegisterBlockCG(void);

/* What PETSc calls itself when it loads the library. */
__attribute__((visibility("default"))) PetscErrorCode PetscDLLibraryRegister_block_eigs_ksp(void);

#ifdef __cplusplus
}
#endif

#endif
