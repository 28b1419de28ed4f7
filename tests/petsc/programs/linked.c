/* A program that is linked with the plug-ins, as docs/petsc.md says. */
#include <block_eigs_ksp.h>
#include <block_eigs_petsc.h>
#include <block_eigs_slepc.h>

int main(int argc, char **argv)
{
  Mat a;
  EPS eps;
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(SlepcInitialize(&argc, &argv, NULL, NULL));
  PetscCall(MatRegisterBlockCSR());
  PetscCall(KSPRegisterBlockCG());
  PetscCall(EPSRegisterBlockEigs());
  PetscCall(MatCreate(PETSC_COMM_WORLD, &a));
  PetscCall(MatSetSizes(a, PETSC_DECIDE, PETSC_DECIDE, 9, 9));
  PetscCall(MatSetType(a, "blockcsr"));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, "blockcg"));
  PetscCall(EPSCreate(PETSC_COMM_WORLD, &eps));
  PetscCall(EPSSetType(eps, "blockeigs"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "all types are there\n"));
  PetscCall(EPSDestroy(&eps));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&a));
  PetscCall(SlepcFinalize());
  return 0;
}
