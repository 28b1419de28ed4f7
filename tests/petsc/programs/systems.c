/* An ordinary PETSc program: the 5-point Laplacian on an n x n grid, less a shift, solved for one right-hand side, with
   -again K as often once more and then with twice the matrix, with -stretch S also with D A D, where D goes from 1 to
   1 + S, and for several at once, which are of -dense_type. It takes matrix type and solver from the command line and
   knows nothing of block-eigs. */
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

static PetscErrorCode stretch(Mat a, PetscReal more)
{
  Vec      d;
  PetscInt begin, end, rows, row;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(a, &d, NULL));
  PetscCall(VecGetSize(d, &rows));
  PetscCall(VecGetOwnershipRange(d, &begin, &end));
  for (row = begin; row < end; row++) PetscCall(VecSetValue(d, row, 1.0 + more * row / (rows - 1), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(d));
  PetscCall(VecAssemblyEnd(d));
  PetscCall(MatDiagonalScale(a, d, d));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(0);
}

static PetscErrorCode print_place(Vec f)
{
  PetscOffloadMask mask;

  PetscFunctionBeginUser;
  PetscCall(VecGetOffloadMask(f, &mask));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "right-hand side is on %s\n", mask == PETSC_OFFLOAD_GPU ? "the GPU alone" : "the host"));
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
  PetscCall(print_place(f));
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
  char      type[64];
  PetscBool given;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(a, &rows, NULL));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, sides, NULL, &f));
  PetscCall(MatGetOwnershipRange(f, &begin, NULL));
  for (i = begin; i < begin + rows; i++) {
    for (j = 0; j < sides; j++) PetscCall(MatSetValue(f, i, j, PetscSinReal(0.1 + i * (j + 1.0)), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(f, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(f, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-dense_type", type, sizeof(type), &given));
  if (given) PetscCall(MatConvert(f, type, MAT_INPLACE_MATRIX, &f));
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
  PetscReal shift = 0.0, more = 0.0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-sides", &sides, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-again", &again, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-shift", &shift, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-stretch", &more, NULL));
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
  if (more > 0.0) {
    PetscCall(stretch(a, more));
    PetscCall(solve_one(ksp, a));
    PetscCall(solve_one(ksp, a));
  }
  PetscCall(solve_many(ksp, a, sides));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&a));
  PetscCall(PetscFinalize());
  return 0;
}
