/* An ordinary PETSc program: the 5-point Laplacian on an n x n grid, less a shift, solved for one right-hand side, with
   -again K as often once more and then with twice the matrix, and for several at once. It takes matrix type and solver from the command line and knows nothing of block-eigs. */
#include <petscksp.h>

static PetscErrorCode shifted_laplacian(PetscInt n, PetscReal shift, Mat *a)
{
  PetscInt begin, end, row;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, a));
  PetscCall(MatSetSizes(*a, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
  PetscCall(MatSetFromOptions(*a));
  PetscCall(MatSetUp(*a));
  PetscCall(MatGetOwnershipRange(*a, &begin, &end));
  for (row = begin; row < end; row++) {
    PetscInt i = row / n, j = row % n;

    if (i > 0) PetscCall(MatSetValue(*a, row, row - n, -1.0, INSERT_VALUES));
    if (j > 0) PetscCall(MatSetValue(*a, row, row - 1, -1.0, INSERT_VALUES));
    if (j < n - 1) PetscCall(MatSetValue(*a, row, row + 1, -1.0, INSERT_VALUES));
    if (i < n - 1) PetscCall(MatSetValue(*a, row, row + n, -1.0, INSERT_VALUES));
    PetscCall(MatSetValue(*a, row, row, 4.0 - shift, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*a, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode solve_one(KSP ksp, Mat a)
{
  Vec       x, f;
  PetscReal norm;
  PetscInt  steps;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(a, &x, &f));
  PetscCall(VecSet(f, 1.0));
  PetscCall(KSPSolve(ksp, f, x));
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(KSPGetIterationNumber(ksp, &steps));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "steps %d\nsolution %.14e\n", (int)steps, (double)norm));
  PetscCall(MatMult(a, x, f));
  PetscCall(VecShift(f, -1.0));
  PetscCall(VecNorm(f, NORM_2, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "residual %.14e\n", (double)norm));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&f));
  PetscFunctionReturn(0);
}

static PetscErrorCode solve_many(KSP ksp, Mat a, PetscInt sides)
{
  Mat       x, f, ax;
  PetscReal norm;
  PetscInt  rows, begin, i, j;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(a, &rows, NULL));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, sides, NULL, &f));
  PetscCall(MatGetOwnershipRange(f, &begin, NULL));
  for (i = begin; i < begin + rows; i++) {
    for (j = 0; j < sides; j++) PetscCall(MatSetValue(f, i, j, PetscSinReal(0.1 + i * (j + 1.0)), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(f, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(f, MAT_FINAL_ASSEMBLY));
  PetscCall(MatDuplicate(f, MAT_DO_NOT_COPY_VALUES, &x));
  PetscCall(KSPMatSolve(ksp, f, x));
  PetscCall(MatNorm(x, NORM_FROBENIUS, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solution %.14e\n", (double)norm));
  PetscCall(MatMatMult(a, x, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &ax));
  PetscCall(MatAXPY(ax, -1.0, f, SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(ax, NORM_FROBENIUS, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "residual %.14e\n", (double)norm));
  PetscCall(MatDestroy(&ax));
  PetscCall(MatDestroy(&x));
  PetscCall(MatDestroy(&f));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Mat       a;
  KSP       ksp;
  MatType   type;
  PetscInt  n = 30, sides = 5, again = 0, k;
  PetscReal shift = 0.0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-sides", &sides, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-again", &again, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-shift", &shift, NULL));
  PetscCall(shifted_laplacian(n, shift, &a));
  PetscCall(MatGetType(a, &type));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "matrix of type %s\n", type));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, a, a));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(solve_one(ksp, a));
  for (k = 0; k < again; k++) PetscCall(solve_one(ksp, a));
  if (again > 0) {
    PetscCall(MatScale(a, 2.0));
    PetscCall(solve_one(ksp, a));
    PetscCall(MatScale(a, 0.5));
  }
  PetscCall(solve_many(ksp, a, sides));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&a));
  PetscCall(PetscFinalize());
  return 0;
}
