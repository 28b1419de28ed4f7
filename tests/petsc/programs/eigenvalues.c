/* An ordinary SLEPc program: smallest eigenvalues of a 7-point diffusion operator on an n x n x n grid. Its coefficients
   differ from direction to direction, so that eigenvalues are simple: of multiple ones a Krylov method finds as many
   copies as rounding errors give it. It takes matrix type and solver from the command line and knows nothing of
   block-eigs. With -composite the solver sees a matrix that it can multiply by and that
   gives no rows. */
#include <slepceps.h>

static PetscErrorCode diffusion(PetscInt n, Mat *a)
{
  PetscInt begin, end, row;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, a));
  PetscCall(MatSetSizes(*a, PETSC_DECIDE, PETSC_DECIDE, n * n * n, n * n * n));
  PetscCall(MatSetFromOptions(*a));
  PetscCall(MatSeqAIJSetPreallocation(*a, 7, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*a, 7, NULL, 6, NULL));
  PetscCall(MatGetOwnershipRange(*a, &begin, &end));
  for (row = begin; row < end; row++) {
    PetscInt i = row / (n * n), j = row / n % n, k = row % n;

    if (i > 0) PetscCall(MatSetValue(*a, row, row - n * n, -1.5, INSERT_VALUES));
    if (j > 0) PetscCall(MatSetValue(*a, row, row - n, -1.2, INSERT_VALUES));
    if (k > 0) PetscCall(MatSetValue(*a, row, row - 1, -1.0, INSERT_VALUES));
    if (k < n - 1) PetscCall(MatSetValue(*a, row, row + 1, -1.0, INSERT_VALUES));
    if (j < n - 1) PetscCall(MatSetValue(*a, row, row + n, -1.2, INSERT_VALUES));
    if (i < n - 1) PetscCall(MatSetValue(*a, row, row + n * n, -1.5, INSERT_VALUES));
    PetscCall(MatSetValue(*a, row, row, 7.4, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*a, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode composite_of(Mat a, Mat *composite)
{
  VecType type;

  PetscFunctionBeginUser;
  PetscCall(MatGetVecType(a, &type));
  PetscCall(MatCreateComposite(PETSC_COMM_WORLD, 1, &a, composite));
  PetscCall(MatSetVecType(*composite, type));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Mat         a, composite = NULL;
  PetscBool   wrapped = PETSC_FALSE;
  EPS         eps;
  MatType     type;
  PetscInt    n = 9, wanted, converged, pair;
  PetscScalar value;

  PetscFunctionBeginUser;
  PetscCall(SlepcInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-composite", &wrapped, NULL));
  PetscCall(diffusion(n, &a));
  if (wrapped) PetscCall(composite_of(a, &composite));
  PetscCall(MatGetType(a, &type));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "matrix of type %s\n", type));
  PetscCall(EPSCreate(PETSC_COMM_WORLD, &eps));
  PetscCall(EPSSetOperators(eps, wrapped ? composite : a, NULL));
  PetscCall(EPSSetProblemType(eps, EPS_HEP));
  PetscCall(EPSSetWhichEigenpairs(eps, EPS_SMALLEST_REAL));
  PetscCall(EPSSetFromOptions(eps));
  PetscCall(EPSSolve(eps));
  PetscCall(EPSGetDimensions(eps, &wanted, NULL, NULL));
  PetscCall(EPSGetConverged(eps, &converged));
  for (pair = 0; pair < PetscMin(wanted, converged); pair++) {
    PetscCall(EPSGetEigenvalue(eps, pair, &value, NULL));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "eigenvalue %.14e\n", (double)PetscRealPart(value)));
  }
  PetscCall(EPSDestroy(&eps));
  PetscCall(MatDestroy(&composite));
  PetscCall(MatDestroy(&a));
  PetscCall(SlepcFinalize());
  return 0;
}
