#include "io/petsc/bridge/petsc_matrix.hpp"

#include "io/generate/generate.hpp"
#include "solver/lobpcg/lobpcg.hpp"
#include "tests/petsc/petsc_test.hpp"
#include "tests/support/eigen_problem.hpp"

// A matrix that a PETSc program holds enters our solvers without a file.
namespace block_eigs {
namespace {

using namespace test;

class PetscMatrix : public PetscTest {};

/// The 5-point Laplacian as a PETSc program writes it, on an uneven layout.
OwnedMat grid_laplacian(PetscInt n, MatType type) {
  Mat a = nullptr;
  ok(MatCreate(PETSC_COMM_WORLD, &a));
  OwnedMat owned(a);
  ok(MatSetSizes(a, uneven_share(n * n), uneven_share(n * n), n * n, n * n));
  ok(MatSetType(a, type));
  ok(MatSetUp(a));
  PetscInt begin = 0;
  PetscInt end = 0;
  ok(MatGetOwnershipRange(a, &begin, &end));
  for (PetscInt row = begin; row < end; ++row) {
    const PetscInt i = row / n;
    const PetscInt j = row % n;
    if (i > 0) ok(MatSetValue(a, row, row - n, -1.0, INSERT_VALUES));
    if (j > 0) ok(MatSetValue(a, row, row - 1, -1.0, INSERT_VALUES));
    if (j < n - 1) ok(MatSetValue(a, row, row + 1, -1.0, INSERT_VALUES));
    if (i < n - 1) ok(MatSetValue(a, row, row + n, -1.0, INSERT_VALUES));
    ok(MatSetValue(a, row, row, 4.0, INSERT_VALUES));
  }
  ok(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  ok(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  return owned;
}

TEST_F(PetscMatrix, GoesIntoLobpcg) {
  const Communicator comm(PETSC_COMM_WORLD);
  const auto context = make_context<double>(comm, Backend::host);
  for (const char* type : {MATAIJ, "blockcsr", MATBAIJ}) {
    SCOPED_TRACE(type);
    const OwnedMat a = grid_laplacian(20, type);
    const auto matrix = petsc::distributed_matrix(context, a.get());
    EXPECT_EQ(matrix->row_partition().size(comm.rank()), uneven_share(400));
    BlockSpace<double> space(context, matrix->row_partition());
    LobpcgOptions options;
    options.pairs = 6;
    options.tolerance = 1e-9;
    options.max_iterations = 2000;
    const auto result = lobpcg<double>(space, *matrix, nullptr, nullptr, nullptr, {}, options);
    const auto exact = closed_form_laplacian_eigenvalues({.size = {20, 20}}, options.pairs);
    for (std::size_t j = 0; j < exact.size(); ++j) EXPECT_NEAR(result.eigenvalues[j], exact[j], 1e-11) << j;
  }
}

TEST_F(PetscMatrix, RectangularRowsThereAndBack) {
  const Communicator comm(PETSC_COMM_WORLD);
  const Pair pair(random_entries(40, 90, 4, 2));
  const CsrRows rows = petsc::read_rows(pair.ours.get());
  const OwnedMat back = petsc::make_aij(comm, rows, petsc::column_partition(pair.ours.get()));
  EXPECT_EQ(type_of(back.get()), aij_type());
  expect_equal(pair.aij.get(), back.get());
}

}  // namespace
}  // namespace block_eigs
