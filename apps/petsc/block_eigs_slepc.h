#ifndef BLOCK_EIGS_SLEPC_H
#define BLOCK_EIGS_SLEPC_H

/* For SLEPc programs in C or C++ that link libblock_eigs_slepc: the EPS type "blockeigs" without -dll_append. */

#include <slepceps.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes EPSSetType(eps, "blockeigs") and -eps_type blockeigs work. After SlepcInitialize, once; not collective. An error
   where PETSc or SLEPc are not of the version that the library was built for. */
__attribute__((visibility("default"))) PetscErrorCode EPSRegisterBlockEigs(void);

/* What PETSc calls itself when it loads the library. */
__attribute__((visibility("default"))) PetscErrorCode PetscDLLibraryRegister_block_eigs_slepc(void);

#ifdef __cplusplus
}
#endif

#endif
