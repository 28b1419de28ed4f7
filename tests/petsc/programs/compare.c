/* An ordinary program for scripts/compare-petsc-solvers: the 7-point Laplacian on an n x n x n grid, either its smallest
   eigenvalues, or with -sides s systems with as many right-hand sides, in a matrix of -dense_type. It prints seconds of the
   solve, of the processor and by the clock, with -repeat r as often. */
#include <slepceps.h>
#include <time.h>

static double  clock_start;
static clock_t processor_start;

static void start_clocks(void)
{
  clock_start     = MPI_Wtime();
  processor_start = clock();
}

static PetscErrorCode print_clocks(const char *what)
{
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "processor seconds of %s %.3f, by the clock %.3f\n", what, (double)(clock() - processor_start) / CLOCKS_PER_SEC, MPI_Wtime() - clock_start));
  PetscFunctionReturn(0);
}

static PetscErrorCode laplacian(PetscInt n, Mat *a)
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

    if (i > 0) PetscCall(MatSetValue(*a, row, row - n * n, -1.0, INSERT_VALUES));
    if (j > 0) PetscCall(MatSetValue(*a, row, row - n, -1.0, INSERT_VALUES));
    if (k > 0) PetscCall(MatSetValue(*a, row, row - 1, -1.0, INSERT_VALUES));
    if (k < n - 1) PetscCall(MatSetValue(*a, row, row + 1, -1.0, INSERT_VALUES));
    if (j < n - 1) PetscCall(MatSetValue(*a, row, row + n, -1.0, INSERT_VALUES));
    if (i < n - 1) PetscCall(MatSetValue(*a, row, row + n * n, -1.0, INSERT_VALUES));
    PetscCall(MatSetValue(*a, row, row, 6.0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*a, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode eigenvalues(Mat a, PetscInt repeat)
{
  EPS         eps;
  PetscInt    converged, wanted;
  PetscScalar value = 0.0;

  PetscFunctionBeginUser;
  PetscCall(EPSCreate(PETSC_COMM_WORLD, &eps));
  PetscCall(EPSSetOperators(eps, a, NULL));
  PetscCall(EPSSetProblemType(eps, EPS_HEP));
  PetscCall(EPSSetWhichEigenpairs(eps, EPS_SMALLEST_REAL));
  PetscCall(EPSSetFromOptions(eps));
  for (; repeat > 0; repeat--) {
    start_clocks();
    PetscCall(EPSSolve(eps));
    PetscCall(print_clocks("EPSSolve"));
  }
  PetscCall(EPSGetConverged(eps, &converged));
  PetscCall(EPSGetDimensions(eps, &wanted, NULL, NULL));
  if (converged >= wanted) PetscCall(EPSGetEigenvalue(eps, wanted - 1, &value, NULL));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "converged %d, largest of the wanted %.12f\n", (int)converged, (double)PetscRealPart(value)));
  PetscCall(EPSDestroy(&eps));
  PetscFunctionReturn(0);
}

static PetscErrorCode systems(Mat a, PetscInt sides, PetscInt repeat)
{
  KSP       ksp;
  Mat       f, x, r;
  PetscInt  rows;
  PetscReal norm, whole;
  char      type[64];
  PetscBool given;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(a, &rows, NULL));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, sides, NULL, &f));
  PetscCall(MatSetRandom(f, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-dense_type", type, sizeof(type), &given));
  if (given) PetscCall(MatConvert(f, type, MAT_INPLACE_MATRIX, &f));
  PetscCall(MatDuplicate(f, MAT_DO_NOT_COPY_VALUES, &x));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, a, a));
  PetscCall(KSPSetFromOptions(ksp));
  for (; repeat > 0; repeat--) {
    start_clocks();
    PetscCall(KSPMatSolve(ksp, f, x));
    PetscCall(print_clocks("KSPMatSolve"));
  }
  PetscCall(MatMatMult(a, x, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &r));
  PetscCall(MatAXPY(r, -1.0, f, SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(r, NORM_FROBENIUS, &norm));
  PetscCall(MatNorm(f, NORM_FROBENIUS, &whole));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "relative residual %.2e\n", (double)(norm / whole)));
  PetscCall(MatDestroy(&r));
  PetscCall(MatDestroy(&x));
  PetscCall(MatDestroy(&f));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Mat      a;
  PetscInt n = 48, sides = 0, repeat = 1;

  PetscFunctionBeginUser;
  PetscCall(SlepcInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-sides", &sides, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &repeat, NULL));
  PetscCall(laplacian(n, &a));
  PetscCall(sides > 0 ? systems(a, sides, repeat) : eigenvalues(a, repeat));
  PetscCall(MatDestroy(&a));
  PetscCall(SlepcFinalize());
  return 0;
}
