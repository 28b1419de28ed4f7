#ifndef BLOCK_EIGS_PETSC_H
#define BLOCK_EIGS_PETSC_H

/* For PETSc programs in C or C++ that link libblock_eigs_petsc: the Mat type "blockcsr" without -dll_append. */

#include <petscmat.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes MatSetType(A, "blockcsr"), -mat_type blockcsr and MatConvert(A, "blockcsr", ...) work. After PetscInitialize,
   once; not collective. An error where this PETSc is not of the version, scalar type and PetscInt width that the library
   was built for. */
__attribute__((visibility("default"))) PetscErrorCode MatRegisterBlockCSR(void);

/* What PETSc calls itself when it loads the library. */
__attribute__((visibility("default"))) PetscErrorCode PetscDLLibraryRegister_block_eigs_petsc(void);

#ifdef __cplusplus
}
#endif

#endif
